package repo

import (
	"jp/gitcmd"
	"jp/gitcmd/convert"
)

// GitOptions start git in the user's environment, with the filters of the user's own configuration.
func (h *Host) GitOptions() gitcmd.Options {
	return gitcmd.Options{Environ: h.Environ, MayRun: func(at gitcmd.Repository, f gitcmd.Filter) error { return convert.MayRun(at, h.Environ, f) }}
}
