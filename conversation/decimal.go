package conversation

import (
	"math/big"
	"strings"
)

// AddDecimals adds two decimal numbers given as text, exactly. An empty text,
// or one that is no decimal number, counts as zero. Two of them make "".
func AddDecimals(a, b string) string {
	x, okA := parseDecimal(a)
	y, okB := parseDecimal(b)
	switch {
	case !okA && !okB:
		return ""
	case !okA:
		return b
	case !okB:
		return a
	}
	return new(big.Rat).Add(x, y).FloatString(max(decimals(a), decimals(b)))
}

func parseDecimal(s string) (*big.Rat, bool) {
	if s == "" || len(s) > 40 || strings.Trim(s, "0123456789.") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func decimals(s string) int {
	_, fraction, _ := strings.Cut(s, ".")
	return len(fraction)
}
