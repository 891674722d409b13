"""pydantic-ai against Candor: ``python pydantic_ai_loop.py KIND tool|stream|typed|error``; prints JSON.

KIND is chat, responses, messages or generate.
"""

import asyncio
import json
import os
import sys

import pydantic
import pydantic_ai
from pydantic_ai.exceptions import ModelHTTPError

KIND, SCENARIO = sys.argv[1:3]
URL, KEY = os.environ["CANDOR_URL"], os.environ["CANDOR_KEY"]
CALLS = []


def model(name: str) -> object:
    match KIND:
        case "messages":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(name, provider=AnthropicProvider(base_url=URL, api_key=KEY))
        case "generate":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(name, provider=GoogleProvider(base_url=URL, api_key=KEY))
        case _:
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            kind = OpenAIChatModel if KIND == "chat" else OpenAIResponsesModel
            return kind(name, provider=OpenAIProvider(base_url=URL + "/v1", api_key=KEY))


class Verdict(pydantic.BaseModel):
    """A verdict."""

    verdict: str
    score: int


def agent(**options: object) -> pydantic_ai.Agent:
    made = pydantic_ai.Agent(
        model("no-such-model" if SCENARIO == "error" else "fake-agent"),
        instructions="Be brief.",
        **options,
    )

    @made.tool_plain
    def run_shell(command: str) -> str:
        """Run a command."""
        CALLS.append(command)
        return f"ran {command}"

    return made


async def main() -> dict[str, object]:
    if SCENARIO == "stream":
        async with agent().run_stream("Run `echo streamed` and report.") as result:
            text = "".join([delta async for delta in result.stream_text(delta=True)])
        return {"text": text, "calls": CALLS}
    if SCENARIO == "typed":
        result = await agent(output_type=Verdict).run("Run `echo judged` and report.")
        return {"text": result.output.verdict, "score": result.output.score, "calls": CALLS}
    result = await agent().run("Run `echo one` and `echo two` and report.")
    return {"text": result.output, "calls": CALLS}


try:
    said = asyncio.run(main())
except ModelHTTPError as error:
    said = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(said))
