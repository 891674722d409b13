// The official openai package against Candor: node sdk_openai.mjs chat|responses tool|stream|error; prints JSON.
import OpenAI from "openai";

const [kind, scenario] = process.argv.slice(2);
const client = new OpenAI({ baseURL: process.env.CANDOR_URL + "/v1", apiKey: process.env.CANDOR_KEY, maxRetries: 1 });
const model = scenario === "error" ? "no-such-model" : "fake-agent";
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const prompt = "Run `echo one` and `echo two` and report.";
const calls = [];

function run(args) {
  const { command } = JSON.parse(args);
  calls.push(command);
  return `ran ${command}`;
}

async function chat() {
  const tools = [{ type: "function", function: { name: "run_shell", parameters } }];
  const messages = [{ role: "user", content: prompt }];
  for (let turn = 0; turn < 3; turn++) {
    const request = { model, messages, tools };
    const completion =
      scenario === "stream"
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request);
    const { message } = completion.choices[0];
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls)
      messages.push({ role: "tool", tool_call_id: call.id, content: run(call.function.arguments) });
  }
}

async function responses() {
  const tools = [{ type: "function", name: "run_shell", parameters, strict: false }];
  const input = [{ role: "user", content: prompt }];
  for (let turn = 0; turn < 3; turn++) {
    const request = { model, input, tools };
    const response =
      scenario === "stream"
        ? await client.responses.stream(request).finalResponse()
        : await client.responses.create(request);
    if (response.status === "failed") throw Object.assign(new Error(response.error.message), response.error);
    const made = response.output.filter((item) => item.type === "function_call");
    if (!made.length) return response.output_text;
    input.push(...response.output);
    for (const call of made)
      input.push({ type: "function_call_output", call_id: call.call_id, output: run(call.arguments) });
  }
}

try {
  const text = await (kind === "chat" ? chat() : responses());
  console.log(JSON.stringify({ text, calls }));
} catch (error) {
  console.log(JSON.stringify({ error: error.constructor.name, message: error.message }));
}
