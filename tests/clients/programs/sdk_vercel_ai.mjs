// Vercel's ai with its four providers against Candor: node sdk_vercel_ai.mjs KIND tool|stream|error; prints JSON.
// KIND is chat, responses, messages or generate.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [kind, scenario] = process.argv.slice(2);
const url = process.env.CANDOR_URL;
const apiKey = process.env.CANDOR_KEY;
const provider = {
  chat: () => createOpenAICompatible({ name: "candor", baseURL: url + "/v1", apiKey }),
  responses: () => createOpenAI({ baseURL: url + "/v1", apiKey }),
  messages: () => createAnthropic({ baseURL: url + "/v1", apiKey }),
  generate: () => createGoogleGenerativeAI({ baseURL: url + "/v1beta", apiKey }),
}[kind]();
const calls = [];
const request = {
  model: provider(scenario === "error" ? "no-such-model" : "fake-agent"),
  prompt: "Run `echo one` and `echo two` and report.",
  maxRetries: 1,
  stopWhen: stepCountIs(3),
  tools: {
    run_shell: tool({
      description: "Run a command.",
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }) => {
        calls.push(command);
        return `ran ${command}`;
      },
    }),
  },
};

try {
  let text = "";
  let failure;
  const onError = ({ error }) => (failure = error);
  if (scenario === "stream")
    for await (const piece of streamText({ ...request, onError }).textStream) text += piece;
  else text = (await generateText(request)).text;
  if (failure) throw failure;
  console.log(JSON.stringify({ text, calls }));
} catch (error) {
  console.log(JSON.stringify({ error: error.name, message: error.message }));
}
