package redacttest

import "strings"

// A Form makes secrets of a kind, as its vendor does.
type Form struct {
	Name string
	Bare bool // it is found in any surroundings
	Make func(letters func(alphabet string, n int) string) string
}

const uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Forms are the kinds.
func Forms() []Form {
	var all []Form
	of := func(name, prefix, alphabet string, n int) {
		all = append(all, Form{name, true, func(letters func(string, int) string) string { return prefix + letters(alphabet, n) }})
	}
	lowers, dashed := "0123456789"+strings.ToLower(uppers), Base62+"-_"
	of("openrouter", "sk-or-"+"v1-", hexes, 64)
	of("deepseek", "sk-", hexes, 32)
	of("openai", "sk-", Base62, 48)
	of("openai project", "sk-pr"+"oj-", dashed, 156)
	of("openai service", "sk-svc"+"acct-", dashed, 60)
	of("anthropic", "sk-ant-"+"api03-", dashed, 95)
	of("anthropic sign-in", "sk-ant-"+"oat01-", dashed, 95)
	of("moonshot", "sk-", Base62, 48)
	of("kimi", "sk-ki"+"mi-", Base62, 64)
	of("google", "AI"+"za", dashed, 35)
	of("google new", "AQ."+"Ab8RN6", dashed, 42)
	of("groq", "gs"+"k_", Base62, 52)
	of("xai", "xa"+"i-", Base62, 80)
	of("perplexity", "pp"+"lx-", Base62, 48)
	of("cerebras", "cs"+"k-", lowers, 48)
	of("fireworks", "fw"+"_", Base62, 24)
	of("together", "tgp"+"_v1_", dashed, 43)
	of("nvidia", "nv"+"api-", dashed, 64)
	of("venice", "VENICE-"+"INFERENCE-KEY-", dashed, 42)
	of("huggingface", "h"+"f_", strings.ToLower(uppers)+uppers, 34)
	of("replicate", "r"+"8_", Base62, 37)
	of("vercel", "vc"+"k_", Base62, 56)
	of("docker", "dckr"+"_pat_", dashed, 27)
	of("supabase", "sb"+"p_", hexes, 40)
	of("notion", "nt"+"n_", Base62, 46)
	of("figma", "fi"+"gd_", dashed, 40)
	of("sentry", "snt"+"rys_", base64+"_", 120)
	of("google client", "GOC"+"SPX-", dashed, 28)
	of("google token", "ya"+"29.", dashed, 120)
	of("github", "gh"+"p_", Base62, 36)
	of("github fine", "github"+"_pat_", Base62+"_", 82)
	of("gitlab", "gl"+"pat-", dashed, 20)
	of("npm", "np"+"m_", Base62, 36)
	of("digitalocean", "do"+"p_v1_", hexes, 64)
	of("aws", "AK"+"IA", base32, 16)
	of("twilio", "S"+"K", hexes, 32)
	of("tailscale", "tsk"+"ey-auth-", Base62, 32)
	of("linear", "lin"+"_api_", Base62, 40)
	of("elevenlabs", "sk"+"_", hexes, 48)
	of("tavily", "tv"+"ly-dev-", Base62, 32)
	of("langsmith", "lsv2"+"_pt_", hexes, 43)
	of("pinecone", "pc"+"sk_", Base62+"_", 70)
	of("postman", "PM"+"AK-", hexes, 59)
	of("slack", "xo"+"xb-", "123456789", 36)
	of("vault", "hv"+"s.", dashed, 90)
	of("webhook", "wh"+"sec_", base64, 32)
	all = append(all,
		Form{"telegram", true, func(l func(string, int) string) string { return "1" + l("0123456789", 9) + ":" + "AA" + l(dashed, 33) }},
		Form{"azure openai", true, func(l func(string, int) string) string { return l(Base62, 52) + "JQQ" + "J99" + l(Base62, 26) }},
		Form{"azure storage", true, func(l func(string, int) string) string {
			return l(base64, 76) + "+AS" + "t" + l(base64, 5) + "A=="
		}},
		Form{"langfuse", true, func(l func(string, int) string) string {
			return "sk-" + "lf-" + l(hexes, 8) + "-" + l(hexes, 4) + "-" + l(hexes, 4) + "-" + l(hexes, 4) + "-" + l(hexes, 12)
		}},
		Form{"zai", true, func(l func(string, int) string) string { return l(hexes, 32) + "." + l(Base62, 16) }},
		Form{"mistral", false, func(l func(string, int) string) string { return l(Base62, 32) }},
		Form{"azure", false, func(l func(string, int) string) string { return l(hexes, 32) }},
		Form{"aws secret", false, func(l func(string, int) string) string { return l(base64, 40) }},
		Form{"a password", false, func(l func(string, int) string) string { return "Tr0ub4dor-" + l(uppers+"0123456789", 6) }},
	)
	return all
}
