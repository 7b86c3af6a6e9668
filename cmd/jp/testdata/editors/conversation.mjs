// A whole conversation of the official client with jp: node conversation.mjs JP DIR. It prints what the client got, a line each.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [jp, dir] = process.argv.slice(2);
const { agent: agentMethods, client: clientMethods } = acp.methods;

// talk starts jp, and ends it by the end of its input.
async function talk(say, does) {
  const process = spawn(jp, ["acp"], { cwd: dir, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => process.on("exit", resolve));
  const app = acp
    .client({ name: "conversation" })
    .onRequest(clientMethods.session.requestPermission, ({ params }) => {
      say(`asked: ${params.toolCall.title}`);
      return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === "allow_once").optionId } };
    })
    .onNotification(clientMethods.session.update, ({ params }) => say.update(params));
  await app.connectWith(acp.ndJsonStream(Writable.toWeb(process.stdin), Readable.toWeb(process.stdout)), async (jp) => {
    const hello = await jp.request(agentMethods.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    say(`version: ${hello.protocolVersion}`);
    await does(jp);
  });
  process.stdin.end();
  say(`exit: ${await ended}`);
}

function listener(seen) {
  const say = (line) => console.log(line);
  say.update = ({ update }) => seen(update);
  return say;
}

let session;
let inProgress = () => {};
const text = (words) => ({ sessionId: session, prompt: [{ type: "text", text: words }] });
const first = listener((u) => {
  if (u.sessionUpdate === "tool_call_update" && u.status === "in_progress") inProgress();
});
await talk(first, async (jp) => {
  const opened = await jp.request(agentMethods.session.new, { cwd: dir, mcpServers: [] });
  session = opened.sessionId;
  first(`mode: ${opened.modes.currentModeId}`);
  first(`made: ${(await jp.request(agentMethods.session.prompt, text("Make a file"))).stopReason}`);
  const works = new Promise((resolve) => (inProgress = resolve));
  const waits = jp.request(agentMethods.session.prompt, text("Wait"));
  await works;
  await jp.notify(agentMethods.session.cancel, { sessionId: session });
  first(`waited: ${(await waits).stopReason}`);
  await jp.request(agentMethods.session.setMode, { sessionId: session, modeId: "plan" });
  first(`planned: ${(await jp.request(agentMethods.session.prompt, text("Plan it"))).stopReason}`);
});

const told = [];
const second = listener((u) => told.push(u.sessionUpdate === "user_message_chunk" ? `user_message_chunk ${u.content.text}` : u.sessionUpdate));
await talk(second, async (jp) => {
  await jp.request(agentMethods.session.load, { sessionId: session, cwd: dir, mcpServers: [] });
  const kinds = told.filter((kind) => kind !== "available_commands_update");
  second(`loaded: ${kinds.filter((kind, i) => kind !== kinds[i - 1]).join(", ")}`);
  second(`again: ${(await jp.request(agentMethods.session.prompt, text("Again"))).stopReason}`);
  await jp.request(agentMethods.session.close, { sessionId: session });
});
