// The official @anthropic-ai/sdk against Candor: node sdk_anthropic.mjs messages tool|stream|error; prints JSON.
import Anthropic from "@anthropic-ai/sdk";

const scenario = process.argv[3];
const client = new Anthropic({ baseURL: process.env.CANDOR_URL, apiKey: process.env.CANDOR_KEY, maxRetries: 1 });
const model = scenario === "error" ? "no-such-model" : "fake-agent";
const tools = [
  {
    name: "run_shell",
    input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
];
const calls = [];

async function main() {
  const messages = [{ role: "user", content: "Run `echo one` and `echo two` and report." }];
  for (let turn = 0; turn < 3; turn++) {
    const request = { model, messages, tools, max_tokens: 1000 };
    const message =
      scenario === "stream"
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
    messages.push({ role: "assistant", content: message.content });
    const made = message.content.filter((block) => block.type === "tool_use");
    if (!made.length) return message.content.map((block) => block.text).join("");
    messages.push({
      role: "user",
      content: made.map((block) => {
        calls.push(block.input.command);
        return { type: "tool_result", tool_use_id: block.id, content: `ran ${block.input.command}` };
      }),
    });
  }
}

try {
  console.log(JSON.stringify({ text: await main(), calls }));
} catch (error) {
  console.log(JSON.stringify({ error: error.constructor.name, message: error.message }));
}
