// jp record adds this plugin to opencode for one run, or jp record install for all. Each moment is noted by a process of jp,
// which gets ids and paths of files. Whatever goes wrong here, opencode goes on.
import { spawn } from "node:child_process"

export const JpRecord = async ({ client, directory }, { command, seconds } = installed) => {
  const parents = new Map()
  const root = async (id) => {
    if (!parents.has(id)) parents.set(id, (await client.session.get({ path: { id } })).data?.parentID)
    return parents.get(id) ? root(parents.get(id)) : id
  }
  const run = (event, input) => new Promise((done) => {
    const child = spawn(command[0], [...command.slice(1), event], { cwd: directory, stdio: ["pipe", "ignore", "ignore"], detached: true })
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })
  const note = async (event, id, call, args) => {
    let timer
    const late = new Promise((done) => { timer = setTimeout(done, seconds * 1000) })
    const noted = async () => {
      const session = await root(id)
      await run(event, {
        session_id: session, agent_id: session === id ? undefined : id, tool_use_id: call, cwd: directory,
        tool_input: { filePath: args?.filePath, command: args?.patchText },
      })
    }
    try {
      await Promise.race([noted(), late])
    } catch {}
    clearTimeout(timer)
  }
  return {
    "chat.message": (input) => note("UserPromptSubmit", input.sessionID),
    "tool.execute.before": (input, output) => note("PreToolUse", input.sessionID, input.callID, output.args),
    "tool.execute.after": (input) => note("PostToolUse", input.sessionID, input.callID, input.args),
    event: async ({ event }) => {
      if (event.type === "session.idle") await note("Stop", event.properties.sessionID)
    },
  }
}
