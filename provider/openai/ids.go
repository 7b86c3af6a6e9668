package openai

import (
	"cmp"
	"crypto/sha256"
	"math/big"
	"strconv"
	"strings"

	"jp/provider"
)

// alnumLength is the length of an id of only letters and digits.
const alnumLength = 9

// An IDForm is the form of the ids of tool calls.
type IDForm int

// The forms.
const (
	AnyIDs      IDForm = iota // any that the API takes
	AlnumIDs                  // nine letters and digits
	NumberedIDs               // functions.NAME:NUMBER, with the number of the call in the conversation
)

// formedIDs gives tool calls ids of a form: the same ones to the same calls in the same order, each id once.
type formedIDs struct {
	form  IDForm
	given map[string]string // by the id on our side
	taken map[string]bool
}

// of is the id of a call or a result. An id of the form, or from the server itself, stays as it is.
func (f *formedIDs) of(b provider.Block) string {
	id := b.ID
	if formed, ok := f.given[id]; ok || f.form == AnyIDs {
		return cmp.Or(formed, id)
	}
	if f.given == nil {
		f.given, f.taken = map[string]string{}, map[string]bool{}
	}
	formed, calls := id, len(f.given)
	for salt := 0; !b.Given && !f.fits(formed) || f.taken[formed]; salt++ {
		b.Given, formed = false, shortened(id, salt)
		if f.form == NumberedIDs {
			formed = "functions." + b.Name + ":" + strconv.Itoa(calls+salt)
		}
	}
	f.given[id], f.taken[formed] = formed, true
	return formed
}

func (f *formedIDs) fits(id string) bool {
	if f.form == AlnumIDs {
		return isAlnum(id)
	}
	name, number, _ := strings.Cut(strings.TrimPrefix(id, "functions."), ":")
	return strings.HasPrefix(id, "functions.") && name != "" && number != "" && strings.Trim(number, "0123456789") == ""
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
