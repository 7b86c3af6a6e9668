package prooftool

import (
	"bytes"
	"flag"
	"fmt"
	"io"
)

// Parse reads a program's flags. Requested help goes to w, and the error is then flag.ErrHelp. Every other
// error is one line that names the help for the flags. The arguments behind the flags are left in
// flags.Args.
func Parse(flags *flag.FlagSet, args []string, w io.Writer) error {
	var said bytes.Buffer
	flags.SetOutput(&said)
	err := flags.Parse(args)
	if err == flag.ErrHelp {
		if _, failed := w.Write(said.Bytes()); failed != nil {
			return failed
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("%w (-h lists the flags)", err)
	}
	return nil
}

// ParseAll is Parse without arguments behind the flags.
func ParseAll(flags *flag.FlagSet, args []string, w io.Writer) error {
	if err := Parse(flags, args, w); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q (-h lists the flags)", flags.Arg(0))
	}
	return nil
}
