package ui

// JsonVersion is raised when the meaning of JSON output changes.
const JsonVersion = 1
