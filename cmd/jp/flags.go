package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
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
			return usage("--%s %d: the least is %d.", name, n, least)
		}
	}
	return nil
}

// flagMistake says what is wrong with a flag.
func flagMistake(err error) string {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) && bad.GetFlag().Value.Type() == "int" {
		return fmt.Sprintf("--%s %q is not a number", bad.GetFlag().Name, bad.GetValue())
	}
	return err.Error()
}
