package editor

// MakeFileScript is a model that makes a file, and says that it did.
const MakeFileScript = `
[[reply]]
reasoning = "A file."
message = "I make a file."
chunk_size = 4
[[reply.tool_call]]
name = "plan"
arguments = { steps = [{ text = "make it", state = "in_progress" }] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "It is there."
chunk_size = 4
[[reply]]
message = "Again."
`

// WaitingScript is a model that runs an endless command.
const WaitingScript = `
[[reply]]
message = "I wait."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo waiting; exec sleep 600"] }
[[reply]]
message = "Over."
times = 9
`
