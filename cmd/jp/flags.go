package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"jp/agent/problem"
	"jp/agent/repo"
)

// atLeast refuses numbers that were given and are smaller than the least that
// makes sense.
func atLeast(flags *pflag.FlagSet, least int, names ...string) error {
	for _, name := range names {
		n, err := flags.GetInt(name)
		if err != nil {
			return err
		}
		if flags.Changed(name) && n < least {
			return problem.Usage("--%s %d: the least is %d.", name, n, least)
		}
	}
	return nil
}

func flagMistake(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	name := "--" + bad.GetFlag().Name
	switch bad.GetFlag().Value.Type() {
	case "int":
		return fmt.Sprintf("%s %q is not a number", name, bad.GetValue())
	case "bool":
		return fmt.Sprintf("invalid %s %q (want true or false)", name, bad.GetValue())
	case "duration":
		return strings.TrimSuffix(repo.NoTime(name, bad.GetValue(), "a duration: 90s, 10m, 2h, 3d").Message, ".")
	}
	return err.Error()
}

// A period is the value of a flag that is a duration: as Go writes it, or in days
// and weeks.
type period time.Duration

// Set implements pflag.Value.
func (p *period) Set(text string) error {
	d, err := time.ParseDuration(text)
	if long, ok := repo.Ago(text); ok {
		d, err = long, nil
	}
	*p = period(d)
	return err
}

// String implements pflag.Value.
func (p *period) String() string {
	if *p == 0 {
		return "0" // which the help shows as none
	}
	return time.Duration(*p).String()
}

// Type implements pflag.Value.
func (*period) Type() string { return "duration" }
