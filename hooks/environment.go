package hooks

// Marker is the variable by which a program can know that a hook runs it. It
// holds the point.
const Marker = "JP_HOOK"
