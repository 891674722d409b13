// The official @google/genai against Candor: node sdk_genai.mjs generate tool|stream|error; prints JSON.
import { GoogleGenAI } from "@google/genai";

const scenario = process.argv[3];
const client = new GoogleGenAI({ apiKey: process.env.CANDOR_KEY, httpOptions: { baseUrl: process.env.CANDOR_URL } });
const model = scenario === "error" ? "no-such-model" : "fake-agent";
const parametersJsonSchema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const config = { tools: [{ functionDeclarations: [{ name: "run_shell", parametersJsonSchema }] }] };
const calls = [];

async function ask(contents) {
  if (scenario !== "stream") return (await client.models.generateContent({ model, contents, config })).candidates[0].content;
  const parts = [];
  for await (const chunk of await client.models.generateContentStream({ model, contents, config }))
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
  return { role: "model", parts };
}

async function main() {
  const contents = [{ role: "user", parts: [{ text: "Run `echo one` and `echo two` and report." }] }];
  for (let turn = 0; turn < 3; turn++) {
    const content = await ask(contents);
    contents.push(content);
    const made = content.parts.filter((part) => part.functionCall);
    if (!made.length) return content.parts.map((part) => part.text ?? "").join("");
    contents.push({
      role: "user",
      parts: made.map(({ functionCall: { id, name, args } }) => {
        calls.push(args.command);
        return { functionResponse: { id, name, response: { output: `ran ${args.command}` } } };
      }),
    });
  }
}

try {
  console.log(JSON.stringify({ text: await main(), calls }));
} catch (error) {
  console.log(JSON.stringify({ error: error.constructor.name, message: error.message }));
}
