"""openai-agents against Candor: ``python openai_agents_loop.py chat|responses tool|stream|error``; prints JSON."""

import asyncio
import json
import os
import sys

import agents
import openai

agents.set_tracing_disabled(True)
KIND, SCENARIO = sys.argv[1:3]
CLIENT = openai.AsyncOpenAI(
    base_url=os.environ["CANDOR_URL"] + "/v1", api_key=os.environ["CANDOR_KEY"], max_retries=1
)
MODEL = {"chat": agents.OpenAIChatCompletionsModel, "responses": agents.OpenAIResponsesModel}[KIND]
CALLS = []


@agents.function_tool
def run_shell(command: str) -> str:
    """Run a command."""
    CALLS.append(command)
    return f"ran {command}"


async def main() -> dict[str, object]:
    name = "no-such-model" if SCENARIO == "error" else "fake-agent"
    agent = agents.Agent(name="a", instructions="Be brief.", model=MODEL(name, CLIENT), tools=[run_shell])
    if SCENARIO == "stream":
        run = agents.Runner.run_streamed(agent, "Run `echo streamed` and report.")
        deltas = [
            event.data.delta
            async for event in run.stream_events()
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
        ]
        return {"text": "".join(deltas), "calls": CALLS}
    result = await agents.Runner.run(agent, "Run `echo one` and `echo two` and report.")
    return {"text": result.final_output, "calls": CALLS}


try:
    said = asyncio.run(main())
except (openai.APIError, agents.exceptions.AgentsException) as error:
    said = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(said))
