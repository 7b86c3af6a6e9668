package main

import (
	"github.com/spf13/pflag"

	"jp/agent/repo"
)

func selectionFlags(s *repo.Selection, f *pflag.FlagSet) {
	f.StringVar(&s.Inactive, "inactive", "", "all without an event in the last `DURATION`, such as 30d")
	f.StringVar(&s.Older, "older", "", "all that began longer ago than `DURATION`, such as 180d")
	f.BoolVarP(&s.Yes, "yes", "y", false, "do it without asking")
}
