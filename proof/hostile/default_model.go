package main

// defaultModel is the model of attacks that bring none: it looks at and changes files with every tool that
// reaches git or the disk.
const defaultModel = `
[[reply]]
message = "I look around."
[[reply.tool_call]]
name = "git_status"
[[reply.tool_call]]
name = "git_diff"
[[reply.tool_call]]
name = "git_log"
[[reply.tool_call]]
name = "git_show"
arguments = { revision = "HEAD" }
[[reply.tool_call]]
name = "fs_list_files"
[[reply.tool_call]]
name = "fs_grep_files"
arguments = { pattern = "one" }
[[reply]]
message = "I change a file."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "git_commit"
arguments = { message = "Make a file", paths = ["made.txt"] }
[[reply]]
message = "Over."
`
