package redact

import "strings"

// A form is a kind of secret that says by its first characters what it is. What follows
// them has no further structure, so it needs no other mark of a secret.
type form struct {
	id, prefix string
	alphabet   string // what can follow the prefix
	least      int    // bytes that follow
	most       int    // 0: any number
}

// The characters of secrets. A dash in one of them is a dash.
const (
	hexes   = "0123456789abcdefABCDEF"
	lowers  = "0123456789abcdefghijklmnopqrstuvwxyz"
	alnums  = lowers + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	urlSafe = alnums + "_-"
	base64s = urlSafe + "+/="
	joined  = base64s + "."
	paired  = urlSafe + ":"
)

// forms are those of current vendors. Of the rules of gitleaks for some of them, one asks
// for other lengths than the vendor has today, and another one for what stands behind.
var forms = []form{
	// Models and what belongs to them.
	{"anthropic-api-key", "sk-ant-", urlSafe, 24, 0},
	{"openrouter-api-key", "sk-or-", urlSafe, 32, 0},
	{"openai-api-key", "sk-proj-", urlSafe, 20, 0},
	{"openai-api-key", "sk-svcacct-", urlSafe, 20, 0},
	{"openai-api-key", "sk-admin-", urlSafe, 20, 0},
	{"openai-session", "sess-", alnums, 40, 40},
	{"lmstudio-api-key", "sk-lm-", paired, 20, 0},
	{"api-key", "sk-", urlSafe, 20, 0},
	{"api-key", "sk_", urlSafe, 32, 0},
	{"gcp-api-key", "AIza", urlSafe, 35, 0},
	{"gcp-api-key", "AQ.Ab", urlSafe, 30, 0},
	{"groq-api-key", "gsk_", alnums, 32, 0},
	{"xai-api-key", "xai-", urlSafe, 40, 0},
	{"perplexity-api-key", "pplx-", alnums, 32, 0},
	{"cerebras-api-key", "csk-", alnums, 32, 0},
	{"fireworks-api-key", "fw_", alnums, 20, 0},
	{"together-api-key", "tgp_v1_", urlSafe, 30, 0},
	{"nvidia-api-key", "nvapi-", urlSafe, 32, 0},
	{"huggingface-access-token", "hf_", alnums, 30, 0},
	{"huggingface-organization-api-token", "api_org_", alnums, 30, 0},
	{"replicate-api-token", "r8_", alnums, 32, 0},
	{"vercel-api-key", "vck_", alnums, 24, 0},
	{"vercel-api-key", "vcp_", alnums, 24, 0},
	{"vercel-api-key", "vca_", alnums, 24, 0},
	{"chutes-api-key", "cpk_", joined, 32, 0},
	{"synthetic-api-key", "syn_", alnums, 24, 0},
	{"ionet-api-key", "io-v2-", joined, 40, 0},
	{"venice-api-key", "VENICE-", urlSafe, 30, 0},
	{"venice-api-key", "VENICE_", urlSafe, 40, 0},
	{"modal-token", "ak-", alnums, 22, 22},
	{"modal-token", "as-", alnums, 22, 22},
	{"voyage-api-key", "pa-", urlSafe, 43, 43},
	{"jina-api-key", "jina_", urlSafe, 32, 0},
	{"tavily-api-key", "tvly-", urlSafe, 24, 0},
	{"firecrawl-api-key", "fc-", hexes, 32, 32},
	{"brave-api-key", "BSA", urlSafe, 28, 28},
	{"langsmith-api-key", "lsv2_", urlSafe, 32, 0},
	{"pinecone-api-key", "pcsk_", urlSafe, 40, 0},
	{"wandb-api-key", "wandb_v1_", urlSafe, 24, 0},
	{"e2b-api-key", "e2b_", hexes, 32, 0},
	{"runpod-api-key", "rpa_", alnums, 32, 0},
	{"anyscale-api-key", "esecret_", alnums, 20, 0},
	{"context7-api-key", "ctx7sk-", urlSafe, 24, 0},
	{"cursor-api-key", "crsr_", hexes, 32, 0},
	{"cursor-api-key", "key_", hexes, 64, 64},
	{"apify-api-token", "apify_api_", alnums, 30, 0},
	{"browserbase-api-key", "bb_live_", urlSafe, 20, 0},

	// Clouds.
	{"aws-session-token", "IQoJb3JpZ2lu", base64s, 100, 0},
	{"aws-session-token", "FwoGZXIvYXdz", base64s, 100, 0},
	{"aws-amazon-bedrock-api-key", "ABSK", base64s, 80, 0},
	{"aws-amazon-bedrock-api-key", "bedrock-api-key-", base64s, 40, 0},
	{"google-client-secret", "GOCSPX-", urlSafe, 24, 0},
	{"google-access-token", "ya29.", joined, 40, 0},
	{"google-refresh-token", "1//0", urlSafe, 40, 0},
	{"alibaba-access-key-id", "LTAI", alnums, 12, 26},
	{"tencent-secret-id", "AKID", alnums, 32, 32},
	{"digitalocean-token", "dop_v1_", hexes, 64, 0},
	{"digitalocean-token", "doo_v1_", hexes, 64, 0},
	{"digitalocean-token", "dor_v1_", hexes, 64, 0},
	{"heroku-api-key", "HRKU-", urlSafe, 36, 0},
	{"render-api-key", "rnd_", alnums, 28, 40},
	{"netlify-access-token", "nfp_", alnums, 36, 0},
	{"deno-token", "ddp_", alnums, 36, 0},
	{"flyio-access-token", "fo1_", urlSafe, 43, 0},
	{"flyio-access-token", "fm2_", base64s, 60, 0},
	{"planetscale-token", "pscale_tkn_", joined, 32, 0},
	{"planetscale-token", "pscale_pw_", joined, 32, 0},
	{"planetscale-token", "pscale_oauth_", joined, 32, 0},
	{"neon-api-key", "napi_", alnums, 40, 0},
	{"supabase-token", "sbp_", urlSafe, 40, 0},
	{"supabase-token", "sb_secret_", urlSafe, 24, 0},
	{"mongodb-token", "mdb_sa_sk_", urlSafe, 32, 0},
	{"databricks-api-token", "dapi", hexes, 32, 32},
	{"tailscale-key", "tskey-", urlSafe, 20, 0},

	// Code, packages and pipelines.
	{"github-token", "ghp_", alnums, 36, 0},
	{"github-token", "gho_", alnums, 36, 0},
	{"github-token", "ghu_", alnums, 36, 0},
	{"github-token", "ghs_", alnums, 36, 0},
	{"github-token", "ghr_", alnums, 36, 0},
	{"github-token", "github_pat_", urlSafe, 60, 0},
	{"gitlab-token", "glpat-", joined, 20, 0},
	{"gitlab-token", "gldt-", urlSafe, 20, 0},
	{"gitlab-token", "glrt-", joined, 20, 0},
	{"gitlab-token", "glsoat-", urlSafe, 20, 0},
	{"atlassian-api-token", "ATATT3", base64s, 60, 0},
	{"atlassian-api-token", "ATCTT3", base64s, 60, 0},
	{"bitbucket-token", "ATBB", base64s, 28, 0},
	{"docker-token", "dckr_pat_", urlSafe, 27, 0},
	{"docker-token", "dckr_oat_", urlSafe, 27, 0},
	{"npm-access-token", "npm_", alnums, 36, 0},
	{"pypi-upload-token", "pypi-AgE", urlSafe, 50, 0},
	{"rubygems-api-token", "rubygems_", hexes, 48, 0},
	{"crates-token", "cio", alnums, 32, 32},
	{"nuget-api-key", "oy2", lowers, 43, 43},
	{"artifactory-api-key", "AKCp", alnums, 60, 80},
	{"packagist-token", "packagist_", urlSafe, 40, 0},
	{"buildkite-token", "bkua_", hexes, 40, 0},
	{"circleci-token", "CCIPAT_", urlSafe, 40, 0},
	{"circleci-token", "CCIPRJ_", urlSafe, 40, 0},
	{"pulumi-token", "pul-", hexes, 40, 40},
	{"sonar-token", "squ_", hexes, 40, 40},
	{"sonar-token", "sqp_", hexes, 40, 40},
	{"sonar-token", "sqa_", hexes, 40, 40},
	{"postman-api-key", "PMAK-", urlSafe, 40, 0},
	{"doppler-token", "dp.st.", joined, 40, 0},
	{"doppler-token", "dp.ct.", joined, 40, 0},
	{"doppler-token", "dp.sa.", joined, 40, 0},
	{"vault-token", "hvs.", urlSafe, 24, 0},
	{"vault-token", "hvb.", urlSafe, 60, 0},
	{"vault-token", "hvr.", urlSafe, 60, 0},
	{"1password-token", "ops_eyJ", base64s, 100, 0},

	// Observability.
	{"sentry-token", "sntrys_", base64s, 40, 0},
	{"sentry-token", "sntryu_", hexes, 40, 0},
	{"sentry-token", "sntryi_", base64s, 40, 0},
	{"grafana-token", "glsa_", urlSafe, 32, 0},
	{"grafana-token", "glc_", base64s, 32, 0},
	{"newrelic-key", "NRAK-", alnums, 24, 0},
	{"axiom-token", "xaat-", urlSafe, 32, 0},
	{"axiom-token", "xapt-", urlSafe, 32, 0},
	{"honeycomb-key", "hcaik_", alnums, 40, 0},
	{"posthog-api-key", "phx_", urlSafe, 32, 0},

	// Mail, payment, documents, chats.
	{"notion-api-token", "ntn_", alnums, 32, 0},
	{"notion-api-token", "secret_", alnums, 43, 43},
	{"figma-token", "figd_", urlSafe, 32, 0},
	{"figma-token", "figu_", urlSafe, 32, 0},
	{"airtable-token", "pat", alnums + ".", 79, 79},
	{"linear-api-key", "lin_api_", alnums, 32, 0},
	{"linear-api-key", "lin_oauth_", alnums, 32, 0},
	{"contentful-token", "CFPAT-", urlSafe, 40, 0},
	{"sendgrid-api-token", "SG.", joined, 50, 0},
	{"mailgun-key", "key-", hexes, 32, 32},
	{"resend-api-key", "re_", alnums + "_", 28, 40},
	{"brevo-api-key", "xkeysib-", urlSafe, 60, 0},
	{"brevo-api-key", "xsmtpsib-", urlSafe, 60, 0},
	{"hubspot-token", "pat-na1-", urlSafe, 36, 0},
	{"hubspot-token", "pat-eu1-", urlSafe, 36, 0},
	{"stripe-access-token", "sk_live_", alnums, 10, 0},
	{"stripe-access-token", "sk_test_", alnums, 10, 0},
	{"stripe-access-token", "rk_live_", alnums, 10, 0},
	{"stripe-access-token", "rk_test_", alnums, 10, 0},
	{"webhook-secret", "whsec_", base64s, 24, 0},
	{"square-token", "sq0atp-", urlSafe, 22, 0},
	{"square-token", "sq0csp-", urlSafe, 40, 0},
	{"shopify-token", "shpat_", hexes, 32, 0},
	{"shopify-token", "shpss_", hexes, 32, 0},
	{"shopify-token", "shpca_", hexes, 32, 0},
	{"shopify-token", "shppa_", hexes, 32, 0},
	{"razorpay-key", "rzp_live_", alnums, 14, 0},
	{"twilio-api-key", "SK", hexes, 32, 32},
	{"slack-token", "xoxb-", urlSafe, 24, 0},
	{"slack-token", "xoxp-", urlSafe, 24, 0},
	{"slack-token", "xoxa-", urlSafe, 24, 0},
	{"slack-token", "xoxs-", urlSafe, 24, 0},
	{"slack-token", "xoxr-", urlSafe, 24, 0},
	{"slack-token", "xoxe-", urlSafe, 24, 0},
	{"slack-token", "xoxc-", urlSafe, 24, 0},
	{"slack-token", "xoxd-", urlSafe + "%", 24, 0},
	{"slack-token", "xapp-", urlSafe, 24, 0},
	{"discord-webhook", "/api/webhooks/", urlSafe + "/", 60, 0},
}

// formRules are the rules of the forms.
func formRules() []rule {
	var all []rule
	for _, f := range forms {
		all = append(all, rule{id: f.id, keywords: []string{strings.ToLower(f.prefix)}, find: f.find})
	}
	return all
}

// find is the secret whose prefix is at at.
func (f form) find(found []window, text string, at, end int) []window {
	if text[at:end] != f.prefix || !begins(text, at) {
		return found
	}
	to := run(text, end, f.alphabet)
	for to > end && text[to-1] == '.' {
		to-- // of a sentence
	}
	n := to - end
	if n < f.least || f.most > 0 && n > f.most || !random(text[end:to], f.least) {
		return found
	}
	return append(found, window{at, to})
}

// run is where the characters of an alphabet end that begin at from.
func run(text string, from int, alphabet string) int {
	for from < len(text) && strings.IndexByte(alphabet, text[from]) >= 0 {
		from++
	}
	return from
}

// begins reports whether a word can begin at at: behind what is no letter and no digit, or
// is one only by an escape.
func begins(text string, at int) bool {
	if at == 0 || !wordByte(text[at-1]) || text[at-1] == '_' {
		return true
	}
	return at > 2 && text[at-3] == '%' && strings.IndexByte(hexes, text[at-2]) >= 0
}

// random reports whether what follows a prefix is more than words.
func random(text string, least int) bool {
	if standIn(text) {
		return false
	}
	digits, uppers, lows, stretch, longest := 0, 0, 0, 0, 0
	for _, c := range []byte(text) {
		stretch++
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			uppers++
		case c >= 'a' && c <= 'z':
			lows++
		default:
			stretch = 0
		}
		longest = max(longest, stretch)
	}
	if longest < len(text) {
		return uppers > 0 && digits+min(uppers, lows) > 5 || longest >= 12 && digits > 0
	}
	return digits > 0 || uppers > 0 && lows > 0 || len(text) >= 2*least
}

// placeRules find what is a secret by the place in which it stands, with an expression that
// says where.
var placeRules = []rule{
	{
		id: "telegram-bot-token", regex: `(?:^|[^0-9])([0-9]{8,10}:AA[\w-]{33})(?:[^\w-]|$)`, keywords: []string{":aa"},
	},
	{
		id: "azure-key", keywords: []string{"jqqj99", "+ast", "+asb", "+aeh", "+arm", "+acr", "+aba", "+amc", "acdb", "apim", "azse", "azfu", "azca", "aiot"},
		regex: `(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/_-]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/_-]{5}[AQgw]==|[A-Za-z0-9+/]{33}(?:AIoT|\+(?:ASb|AEh|ARm))[A-Za-z0-9+/]{5}[A-Za-z0-9]=|[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}|[\w-]{44}AzFu[\w-]{5}[AQgw]==|[A-Za-z0-9]{33}AzCa[A-P][A-Za-z0-9]{5}=|[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26,30})(?:[^A-Za-z0-9+/=]|$)`,
	},
	{
		id: "signature", keywords: []string{"sig=", "signature=", "security-token="},
		regex: `(?i)(?:[?&;]|u0026|%26)(?:sig|signature|x-(?:amz|goog)-(?:signature|security-token))=([A-Za-z0-9%+/=_~-]{20,})`, refuse: refuseLetters,
	},
	{
		id: "pgpass", keywords: []string{":54", ":*:", ":6432:"},
		regex: `(?m)^[ \t+>-]{0,4}(?:[\w.*-]+|/[\w./-]+):(?:\d{2,5}|\*):[\w.*$-]+:[\w.@*-]+:((?:[^\s:\\]|\\[:\\]){4,200})[ \t\r]*$`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"mysql", "mariadb", "sshpass", "redis-cli", "-passin", "-passout", "docker", "podman"},
		regex: `\b(?:(?:mysql(?:dump|admin|import|check|show|sh)?|mariadb(?:-dump|-admin)?)\b[^\n|;&]{0,200}?[ \t]-p|sshpass[ \t]+-p[ \t]{0,3}|redis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]{1,3}|-pass(?:in|out)[ \t]{1,3}pass:|(?:docker|podman)[ \t]+login\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,3})(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|([^\s'"|;&]{4,200}))`, refuse: refuseWord,
	},
	{
		id: "sql-password", keywords: []string{"identified"},
		regex: `(?i)\bidentified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+(?:password[ \t]+)?'([^'\n]{4,200})'`, refuse: refuseWord,
	},
	{
		id: "cookie", keywords: []string{"cookie", "-b '", "-b \""}, find: cookies,
	},
}

// dotted finds the keys that a full stop divides in two parts of a certain length, of which
// nothing else tells what they are: those of Z.ai, and the tokens of bots of Discord.
func dotted(text string) (found []Finding) {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '.')
		if i < 0 {
			return found
		}
		at += i
		if at < 23 || !wordByte(text[at-1]) {
			continue
		}
		from := at
		for from > 0 && at-from < 40 && strings.IndexByte(urlSafe, text[from-1]) >= 0 {
			from--
		}
		to := run(text[:min(len(text), at+80)], at+1, urlSafe)
		switch n := at - from; {
		case n == 32 && to-at == 17 && run(text[:at], from, hexes) == at && random(text[at+1:to], 16):
			found = append(found, Finding{"zai-api-key", from, to})
		case n >= 23 && n <= 28 && to-at == 7 && to < len(text) && text[to] == '.' && strings.IndexByte("MNO", text[from]) >= 0:
			end := run(text[:min(len(text), to+80)], to+1, urlSafe)
			if end-to > 27 && random(text[from:at], 23) {
				found = append(found, Finding{"discord-bot-token", from, end})
			}
		}
	}
}

// cookies finds the values of a header with cookies.
func cookies(found []window, text string, at, end int) []window {
	i := run(text, end, " \t:='\"`\\,[")
	for {
		i = run(text, i, " \t")
		name := i
		i = run(text, i, urlSafe+".")
		if i == name || i == len(text) || text[i] != '=' {
			return found
		}
		i++
		start := i
		for i < len(text) && text[i] > ' ' && strings.IndexByte("\"'`\\;,", text[i]) < 0 {
			i++
		}
		if cookieSecret(strings.ToLower(text[name:start-1]), text[start:i]) {
			found = append(found, window{start, i})
		}
		if i == len(text) || text[i] != ';' {
			return found
		}
		i++
	}
}

// sessionNames are parts of the names of cookies that let somebody in.
var sessionNames = []string{"sess", "sid", "auth", "token", "jwt", "login", "remember", "sso", "ticket", "identity", "key", "secret"}

func cookieSecret(name, value string) bool {
	if value == "" || standIn(value) {
		return false
	}
	for _, part := range sessionNames {
		if strings.Contains(name, part) {
			return len(value) >= 6
		}
	}
	return len(value) >= 20 && digitsIn(value) > 1 && entropy(value) > 3
}
