package gitcmd

import (
	"slices"
	"strings"
)

// offlineLFS is added to every command that converts files, for a git-lfs that the user has set up as a
// filter. It removes all addresses that the repository names, in .git/config or in .lfsconfig, since git's
// configuration wins over the latter.
var offlineLFS = []setting{{"lfs.url", ""}, {"lfs.pushurl", ""}, {"lfs.standalonetransferagent", ""}}

// lfsInert are settings of git-lfs without programs and addresses. The repository's values of these count.
// All others are emptied.
var lfsInert = []string{
	"activitytimeout", "allowincompletepush", "basictransfersonly", "batch", "concurrenttransfers", "defaulttokenttl", "dialtimeout",
	"fetchexclude", "fetchinclude", "fetchrecentalways", "fetchrecentcommitsdays", "fetchrecentrefsdays", "fetchrecentremoterefs",
	"forceprogress", "keepalive", "lockignoredfiles", "locksverify", "pruneoffsetdays", "pruneremotetocheck", "pruneverifyremotealways",
	"repositoryformatversion", "setlockablereadonly", "skipdownloaderrors", "tlstimeout", "tustransfers",
}

// harmless reports whether a setting of LFS is free of programs and addresses. If the key is about one
// server, only the name behind the last dot counts. Those of an extension and a transfer are never harmless.
func harmless(key string) bool {
	rest, isLFS := strings.CutPrefix(key, "lfs.")
	if !isLFS || strings.HasPrefix(rest, "extension.") || strings.HasPrefix(rest, "customtransfer.") {
		return false
	}
	return slices.Contains(lfsInert, rest[strings.LastIndexByte(rest, '.')+1:])
}
