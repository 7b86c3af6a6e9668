package openai

import (
	"crypto/sha256"
	"math/big"
	"strconv"
)

// alnumLength is how long an id is where only letters and digits are taken.
const alnumLength = 9

// alnumIDs gives tool calls ids of nine letters and digits: the same ones to
// the same calls in the same order, and no id twice.
type alnumIDs struct {
	given map[string]string // by the id on our side
	taken map[string]bool
}

// id is the id in the place of the given one, which is kept where it fits.
func (a *alnumIDs) id(id string) string {
	if short, ok := a.given[id]; ok {
		return short
	}
	if a.given == nil {
		a.given, a.taken = map[string]string{}, map[string]bool{}
	}
	short := id
	for salt := 0; !isAlnum(short) || a.taken[short]; salt++ {
		short = shortened(id, salt)
	}
	a.given[id], a.taken[short] = short, true
	return short
}

func isAlnum(id string) bool {
	if len(id) != alnumLength {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

func shortened(id string, salt int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(salt) + " " + id))
	digits := new(big.Int).SetBytes(sum[:]).Text(36)
	return digits[len(digits)-alnumLength:]
}
