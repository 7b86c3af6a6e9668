// Package redacttest makes text with secrets in it, for tests.
package redacttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Planter makes different secrets, and remembers the parts of them that must not stay in a text. It puts
// them together here, so that this file itself contains none.
type Planter struct {
	Random *rand.Rand
	n      int
	Marks  []string
}

func (p *Planter) Letters(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[p.Random.IntN(len(alphabet))])
	}
	return b.String()
}

const (
	hexes  = "0123456789abcdef"
	base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	Base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base64 = Base62 + "+/"
)

// Token is a secret that identifies itself, and can be part of a name.
func (p *Planter) Token() string {
	p.n++
	token := [...]func() string{
		func() string { return "gh" + "p_" + p.Letters(Base62, 36) },
		func() string { return "AK" + "IA" + p.Letters(base32, 16) },
		func() string { return "glp" + "at-" + p.Letters(Base62, 20) },
		func() string { return "np" + "m_" + p.Letters(hexes, 36) },
		func() string { return "sk_" + "live_" + p.Letters(Base62, 30) },
		func() string { return "AI" + "za" + p.Letters(Base62, 35) },
	}[p.n%6]()
	p.Marks = append(p.Marks, token)
	return token
}

// Text is a secret with its mark.
func (p *Planter) Text() string {
	p.n++
	secret, around := "", "%s"
	switch p.n % 8 {
	case 0:
		secret, around = p.Letters(Base62, 32), "api_key = \"%s\" "
	case 1:
		secret, around = "pw"+p.Letters(Base62, 14)+"7", "https://bob:%s@host.example/x "
	case 2:
		secret, around = p.Letters(Base62, 40)+"9", "Authorization: Bearer %s \n"
	case 3:
		secret, around = p.Letters(base64, 64)+"\n"+p.Letters(base64, 64), "-----BEGIN RSA "+"PRIVATE KEY-----\n%s\n-----END RSA "+"PRIVATE KEY----- "
	case 4:
		secret, around = "Pa55"+p.Letters(Base62, 12), "Server=db;User Id=sa;Password=%s; "
	case 5:
		secret = "ey" + "J" + p.Letters(Base62, 33) + ".ey" + "J" + p.Letters(Base62, 60) + "." + p.Letters(Base62, 43)
		around = "cookie %s "
	default:
		return "use " + p.Token() + " "
	}
	p.Marks = append(p.Marks, strings.Split(secret, "\n")...)
	return fmt.Sprintf(around, secret)
}

func (p *Planter) Texts(n int) string {
	var all string
	for range n {
		all += p.Text()
	}
	return all
}
