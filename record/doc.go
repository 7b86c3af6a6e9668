// Package record makes conversations of the sessions of other agents while these run: the words come from the
// agent's session file by the importer, and the trees of the files from snapshots at the agent's hooks.
//
// Recording never stops an agent. A hook that fails is noted, and the agent goes on.
package record
