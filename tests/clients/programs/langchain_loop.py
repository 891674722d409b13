"""langchain's three providers against Candor: ``python langchain_loop.py KIND tool|stream|error``; prints JSON.

KIND is chat, responses, messages or generate. The loop is by hand: bind a tool, call it, give back what it said.
"""

import json
import os
import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

KIND, SCENARIO = sys.argv[1:3]
URL, KEY = os.environ["CANDOR_URL"], os.environ["CANDOR_KEY"]
MODEL = "no-such-model" if SCENARIO == "error" else "fake-agent"
CALLS = []


def model() -> object:
    match KIND:
        case "messages":
            from langchain_anthropic import ChatAnthropic

            return ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_retries=1)
        case "generate":
            from langchain_google_genai import ChatGoogleGenerativeAI

            # Here it is the number of attempts, elsewhere that of attempts after the first.
            return ChatGoogleGenerativeAI(model=MODEL, base_url=URL, google_api_key=KEY, max_retries=2)
        case _:
            from langchain_openai import ChatOpenAI

            return ChatOpenAI(
                model=MODEL,
                base_url=URL + "/v1",
                api_key=KEY,
                max_retries=1,
                use_responses_api=KIND == "responses",
            )


@tool
def run_shell(command: str) -> str:
    """Run a command."""
    CALLS.append(command)
    return f"ran {command}"


def text_of(message: object) -> str:
    text = message.text
    return text if isinstance(text, str) else text()


def main() -> dict[str, object]:
    bound = model().bind_tools([run_shell])
    prompt = "Run `echo one` and `echo two` and report."
    history = [HumanMessage(prompt)]
    for _ in range(3):
        if SCENARIO == "stream":
            said = None
            for chunk in bound.stream(history):
                said = chunk if said is None else said + chunk
        else:
            said = bound.invoke(history)
        history.append(said)
        if not said.tool_calls:
            break
        for call in said.tool_calls:
            history.append(ToolMessage(run_shell.invoke(call["args"]), tool_call_id=call["id"]))
    return {"text": text_of(history[-1]), "calls": CALLS}


try:
    said = main()
except Exception as error:
    said = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(said))
