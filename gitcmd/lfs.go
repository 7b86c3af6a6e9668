package gitcmd

import (
	"slices"
	"strings"
)

// offlineLFS is what every command that converts files says to a git-lfs that the user
// has set up as a filter: no place of the repository's choice is one to talk to, be it
// in .git/config or in .lfsconfig, which git's configuration outweighs.
var offlineLFS = []setting{{"lfs.url", ""}, {"lfs.pushurl", ""}, {"lfs.standalonetransferagent", ""}}

// lfsInert are settings of git-lfs that name no program and no place: what a
// repository says of them holds. All others are emptied.
var lfsInert = []string{
	"activitytimeout", "allowincompletepush", "basictransfersonly", "batch", "concurrenttransfers", "defaulttokenttl", "dialtimeout",
	"fetchexclude", "fetchinclude", "fetchrecentalways", "fetchrecentcommitsdays", "fetchrecentrefsdays", "fetchrecentremoterefs",
	"forceprogress", "keepalive", "lockignoredfiles", "locksverify", "pruneoffsetdays", "pruneremotetocheck", "pruneverifyremotealways",
	"repositoryformatversion", "setlockablereadonly", "skipdownloaderrors", "tlstimeout", "tustransfers",
}

// harmless reports whether a setting of LFS says nothing of programs and places. Only the
// name behind the last dot counts where the key is about one server; those of an
// extension and a transfer are never harmless.
func harmless(key string) bool {
	rest, isLFS := strings.CutPrefix(key, "lfs.")
	if !isLFS || strings.HasPrefix(rest, "extension.") || strings.HasPrefix(rest, "customtransfer.") {
		return false
	}
	return slices.Contains(lfsInert, rest[strings.LastIndexByte(rest, '.')+1:])
}
