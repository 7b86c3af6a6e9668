package redact

import "strings"

// A form is a kind of secret that its first characters identify. The rest is unstructured, and needs no
// further mark of a secret.
type form struct {
	prefix, id string
	alphabet   string // of the characters behind the prefix
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

// forms are those of current vendors. Of the rules of gitleaks for some of them, one requires lengths that
// the vendor no longer uses, and another one certain characters behind the secret.
var forms = []form{
	// Models and related services.
	{"sk-ant-", "anthropic-api-key", urlSafe, 24, 0},
	{"sk-or-", "openrouter-api-key", urlSafe, 32, 0},
	{"sk-proj-", "openai-api-key", urlSafe, 20, 0},
	{"sk-svcacct-", "openai-api-key", urlSafe, 20, 0},
	{"sk-admin-", "openai-api-key", urlSafe, 20, 0},
	{"sess-", "openai-session", alnums, 40, 40},
	{"sk-lm-", "lmstudio-api-key", paired, 20, 0},
	{"sk-", "api-key", urlSafe, 20, 0},
	{"sk_", "api-key", urlSafe, 32, 0},
	{"AIza", "gcp-api-key", urlSafe, 35, 0},
	{"AQ.Ab", "gcp-api-key", urlSafe, 30, 0},
	{"gsk_", "groq-api-key", alnums, 32, 0},
	{"xai-", "xai-api-key", urlSafe, 40, 0},
	{"pplx-", "perplexity-api-key", alnums, 32, 0},
	{"csk-", "cerebras-api-key", alnums, 32, 0},
	{"fw_", "fireworks-api-key", alnums, 20, 0},
	{"tgp_v1_", "together-api-key", urlSafe, 30, 0},
	{"nvapi-", "nvidia-api-key", urlSafe, 32, 0},
	{"hf_", "huggingface-access-token", alnums, 30, 0},
	{"api_org_", "huggingface-organization-api-token", alnums, 30, 0},
	{"r8_", "replicate-api-token", alnums, 32, 0},
	{"vck_", "vercel-api-key", alnums, 24, 0},
	{"vcp_", "vercel-api-key", alnums, 24, 0},
	{"vca_", "vercel-api-key", alnums, 24, 0},
	{"cpk_", "chutes-api-key", joined, 32, 0},
	{"syn_", "synthetic-api-key", alnums, 24, 0},
	{"io-v2-", "ionet-api-key", joined, 40, 0},
	{"VENICE-INFERENCE-KEY-", "venice-api-key", urlSafe, 30, 0},
	{"VENICE-ADMIN-KEY-", "venice-api-key", urlSafe, 30, 0},
	{"VENICE-", "venice-api-key", urlSafe, 30, 0},
	{"VENICE_", "venice-api-key", urlSafe, 40, 0},
	{"ak-", "modal-token", alnums, 22, 22},
	{"as-", "modal-token", alnums, 22, 22},
	{"pa-", "voyage-api-key", urlSafe, 43, 43},
	{"jina_", "jina-api-key", urlSafe, 32, 0},
	{"tvly-", "tavily-api-key", urlSafe, 24, 0},
	{"fc-", "firecrawl-api-key", hexes, 32, 32},
	{"BSA", "brave-api-key", urlSafe, 28, 28},
	{"lsv2_", "langsmith-api-key", urlSafe, 32, 0},
	{"pcsk_", "pinecone-api-key", urlSafe, 40, 0},
	{"wandb_v1_", "wandb-api-key", urlSafe, 24, 0},
	{"e2b_", "e2b-api-key", hexes, 32, 0},
	{"rpa_", "runpod-api-key", alnums, 32, 0},
	{"esecret_", "anyscale-api-key", alnums, 20, 0},
	{"ctx7sk-", "context7-api-key", urlSafe, 24, 0},
	{"crsr_", "cursor-api-key", hexes, 32, 0},
	{"key_", "cursor-api-key", hexes, 64, 64},
	{"apify_api_", "apify-api-token", alnums, 30, 0},
	{"bb_live_", "browserbase-api-key", urlSafe, 20, 0},

	// Clouds.
	{"IQoJb3JpZ2lu", "aws-session-token", base64s, 100, 0},
	{"FwoGZXIvYXdz", "aws-session-token", base64s, 100, 0},
	{"ABSK", "aws-amazon-bedrock-api-key", base64s, 80, 0},
	{"bedrock-api-key-", "aws-amazon-bedrock-api-key", base64s, 40, 0},
	{"GOCSPX-", "google-client-secret", urlSafe, 24, 0},
	{"ya29.", "google-access-token", joined, 40, 0},
	{"1//0", "google-refresh-token", urlSafe, 40, 0},
	{"LTAI", "alibaba-access-key-id", alnums, 12, 26},
	{"AKID", "tencent-secret-id", alnums, 32, 32},
	{"dop_v1_", "digitalocean-token", hexes, 64, 0},
	{"doo_v1_", "digitalocean-token", hexes, 64, 0},
	{"dor_v1_", "digitalocean-token", hexes, 64, 0},
	{"HRKU-", "heroku-api-key", urlSafe, 36, 0},
	{"rnd_", "render-api-key", alnums, 28, 40},
	{"nfp_", "netlify-access-token", alnums, 36, 0},
	{"ddp_", "deno-token", alnums, 36, 0},
	{"fo1_", "flyio-access-token", urlSafe, 43, 0},
	{"fm2_", "flyio-access-token", base64s, 60, 0},
	{"pscale_tkn_", "planetscale-token", joined, 32, 0},
	{"pscale_pw_", "planetscale-token", joined, 32, 0},
	{"pscale_oauth_", "planetscale-token", joined, 32, 0},
	{"napi_", "neon-api-key", alnums, 40, 0},
	{"sbp_", "supabase-token", urlSafe, 40, 0},
	{"sb_secret_", "supabase-token", urlSafe, 24, 0},
	{"mdb_sa_sk_", "mongodb-token", urlSafe, 32, 0},
	{"dapi", "databricks-api-token", hexes, 32, 32},
	{"tskey-", "tailscale-key", urlSafe, 20, 0},

	// Code, packages and pipelines.
	{"ghp_", "github-token", alnums, 36, 0},
	{"gho_", "github-token", alnums, 36, 0},
	{"ghu_", "github-token", alnums, 36, 0},
	{"ghs_", "github-token", alnums, 36, 0},
	{"ghr_", "github-token", alnums, 36, 0},
	{"github_pat_", "github-token", urlSafe, 60, 0},
	{"glpat-", "gitlab-token", joined, 20, 0},
	{"gldt-", "gitlab-token", urlSafe, 20, 0},
	{"glrt-", "gitlab-token", joined, 20, 0},
	{"glsoat-", "gitlab-token", urlSafe, 20, 0},
	{"ATATT3", "atlassian-api-token", base64s, 60, 0},
	{"ATCTT3", "atlassian-api-token", base64s, 60, 0},
	{"ATBB", "bitbucket-token", base64s, 28, 0},
	{"dckr_pat_", "docker-token", urlSafe, 27, 0},
	{"dckr_oat_", "docker-token", urlSafe, 27, 0},
	{"npm_", "npm-access-token", alnums, 36, 0},
	{"pypi-AgE", "pypi-upload-token", urlSafe, 50, 0},
	{"rubygems_", "rubygems-api-token", hexes, 48, 0},
	{"cio", "crates-token", alnums, 32, 32},
	{"oy2", "nuget-api-key", lowers, 43, 43},
	{"AKCp", "artifactory-api-key", alnums, 60, 80},
	{"packagist_", "packagist-token", urlSafe, 40, 0},
	{"bkua_", "buildkite-token", hexes, 40, 0},
	{"CCIPAT_", "circleci-token", urlSafe, 40, 0},
	{"CCIPRJ_", "circleci-token", urlSafe, 40, 0},
	{"pul-", "pulumi-token", hexes, 40, 40},
	{"squ_", "sonar-token", hexes, 40, 40},
	{"sqp_", "sonar-token", hexes, 40, 40},
	{"sqa_", "sonar-token", hexes, 40, 40},
	{"PMAK-", "postman-api-key", urlSafe, 40, 0},
	{"dp.st.", "doppler-token", joined, 40, 0},
	{"dp.ct.", "doppler-token", joined, 40, 0},
	{"dp.sa.", "doppler-token", joined, 40, 0},
	{"hvs.", "vault-token", urlSafe, 24, 0},
	{"hvb.", "vault-token", urlSafe, 60, 0},
	{"hvr.", "vault-token", urlSafe, 60, 0},
	{"ops_eyJ", "1password-token", base64s, 100, 0},

	// Observability.
	{"sntrys_", "sentry-token", base64s, 40, 0},
	{"sntryu_", "sentry-token", hexes, 40, 0},
	{"sntryi_", "sentry-token", base64s, 40, 0},
	{"glsa_", "grafana-token", urlSafe, 32, 0},
	{"glc_", "grafana-token", base64s, 32, 0},
	{"NRAK-", "newrelic-key", alnums, 24, 0},
	{"xaat-", "axiom-token", urlSafe, 32, 0},
	{"xapt-", "axiom-token", urlSafe, 32, 0},
	{"hcaik_", "honeycomb-key", alnums, 40, 0},
	{"phx_", "posthog-api-key", urlSafe, 32, 0},

	// Mail, payment, documents, chats.
	{"ntn_", "notion-api-token", alnums, 32, 0},
	{"secret_", "notion-api-token", alnums, 43, 43},
	{"figd_", "figma-token", urlSafe, 32, 0},
	{"figu_", "figma-token", urlSafe, 32, 0},
	{"pat", "airtable-token", alnums + ".", 79, 79},
	{"lin_api_", "linear-api-key", alnums, 32, 0},
	{"lin_oauth_", "linear-api-key", alnums, 32, 0},
	{"CFPAT-", "contentful-token", urlSafe, 40, 0},
	{"SG.", "sendgrid-api-token", joined, 50, 0},
	{"key-", "mailgun-key", hexes, 32, 32},
	{"re_", "resend-api-key", alnums + "_", 28, 40},
	{"xkeysib-", "brevo-api-key", urlSafe, 60, 0},
	{"xsmtpsib-", "brevo-api-key", urlSafe, 60, 0},
	{"pat-na1-", "hubspot-token", urlSafe, 36, 0},
	{"pat-eu1-", "hubspot-token", urlSafe, 36, 0},
	{"sk_live_", "stripe-access-token", alnums, 10, 0},
	{"sk_test_", "stripe-access-token", alnums, 10, 0},
	{"rk_live_", "stripe-access-token", alnums, 10, 0},
	{"rk_test_", "stripe-access-token", alnums, 10, 0},
	{"whsec_", "webhook-secret", base64s, 24, 0},
	{"sq0atp-", "square-token", urlSafe, 22, 0},
	{"sq0csp-", "square-token", urlSafe, 40, 0},
	{"shpat_", "shopify-token", hexes, 32, 0},
	{"shpss_", "shopify-token", hexes, 32, 0},
	{"shpca_", "shopify-token", hexes, 32, 0},
	{"shppa_", "shopify-token", hexes, 32, 0},
	{"rzp_live_", "razorpay-key", alnums, 14, 0},
	{"SK", "twilio-api-key", hexes, 32, 32},
	{"xoxb-", "slack-token", urlSafe, 24, 0},
	{"xoxp-", "slack-token", urlSafe, 24, 0},
	{"xoxa-", "slack-token", urlSafe, 24, 0},
	{"xoxs-", "slack-token", urlSafe, 24, 0},
	{"xoxr-", "slack-token", urlSafe, 24, 0},
	{"xoxe-", "slack-token", urlSafe, 24, 0},
	{"xoxc-", "slack-token", urlSafe, 24, 0},
	{"xoxd-", "slack-token", urlSafe + "%", 24, 0},
	{"xapp-", "slack-token", urlSafe, 24, 0},
}

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

// run is the end of the characters of an alphabet that begin at from.
func run(text string, from int, alphabet string) int {
	for from < len(text) && strings.IndexByte(alphabet, text[from]) >= 0 {
		from++
	}
	return from
}

// begins reports whether a word can begin at at: at the beginning, or behind a character that is neither a
// letter nor a digit, or is one only as part of an escape.
func begins(text string, at int) bool {
	if at == 0 || !wordByte(text[at-1]) || text[at-1] == '_' {
		return true
	}
	return at > 2 && text[at-3] == '%' && strings.IndexByte(hexes, text[at-2]) >= 0
}

// random reports whether the text behind a prefix is more than words.
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

// placeRules find secrets by their place, with an expression for the place.
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
		id: "command-password", keywords: []string{"mysql", "mariadb", "sshpass", "redis-cli", "-passin", "-passout", "docker", "podman", "htpasswd", "registry login", "skopeo login", "buildah login", "nerdctl login"},
		regex: `\b(?:(?:mysql(?:dump|admin|import|check|show|sh)?|mariadb(?:-dump|-admin)?)\b[^\n|;&]{0,200}?[ \t]-p|sshpass[ \t]+-p[ \t]{0,3}|redis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]{1,3}|-pass(?:in|out)[ \t]{1,3}pass:|(?:docker|podman|registry|skopeo|buildah|nerdctl)[ \t]+login\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,3}|htpasswd[ \t]+(?:-\w*(?:nb|bn)\w*|-\w*b\w*[ \t]+\S+)[ \t]+\S+[ \t]{1,3})(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|([^\s'"|;&]{4,200}))`, refuse: refuseWord,
	},
	{
		id: "url-password", keywords: []string{"@tcp(", "@tcp6(", "@unix("},
		regex: `(?:^|[\s"'\x60=/])[\w.-]{1,64}:([^\s:@/"'\x60]{4,200})@(?:tcp6?|unix)\(`, refuse: refuseWord,
	},
	{
		id: "sql-password", keywords: []string{"identified", "password"},
		regex: `(?i)(?:\bidentified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+(?:password[ \t]+)?|\b(?:create|alter)[ \t]+(?:role|user|login|group)\b[^;\n]{0,200}?\bpassword[ \t]*=?[ \t]*|\bset[ \t]+password\b[^;\n]{0,100}?=[ \t]*(?:password\()?)(?:'((?:[^'\n]|''){3,200})')`, refuse: refuseWord,
	},
	{
		id: "sql-password", keywords: []string{"identified", "password"},
		regex: `(?i)\b(?:create|alter|grant)[ \t]+[^;\n]{0,200}?\b(?:identified[ \t]+by|password[ \t]*=?)[ \t]*"([^"\n]{3,200})"`, refuse: refuseWord,
	},
	{
		id: "discord-webhook", keywords: []string{"/webhooks/"}, regex: `/api/(?:v\d+/)?webhooks/(\d{15,22}/[\w-]{40,})`,
	},
	{
		id: "teams-webhook", keywords: []string{"/incomingwebhook/"},
		regex: `(?i)/webhook(?:b2)?/([0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[\w-]{16,}(?:/[\w-]{8,})*)`,
	},
	{
		id: "url-password", keywords: []string{"://"}, can: hasUser,
		regex: `\b[a-z][a-z0-9+.-]{1,20}://([\w%.~+=-]{20,400}):?@[A-Za-z0-9\[]`, refuse: refuseName,
	},
	{
		id: "oauth-code", keywords: []string{"code="}, regex: `[?&;]code=([\w%/.~+-]{16,1000})`, refuse: refuseName,
	},
	{
		id: "command-password", keywords: []string{"sudo"},
		regex: `\b(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+|['"]?%s *(?:\\n)?['"]?[ \t]+)*(?:'([^'\n]{3,200})'|"([^"\n]{3,200})"|([^\s'"|;&]{3,200}))[ \t]*\|[ \t]*(?:exec[ \t]+)?sudo[ \t]+(?:-\w+[ \t]+|--\S+[ \t]+)*(?:-\w*S|--stdin)\b`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"sudo"},
		regex: `\bsudo[ \t]+(?:-\w+[ \t]+|--\S+[ \t]+)*(?:-\w*S|--stdin)\b[^\n|;]{0,200}<<<[ \t]*(?:'([^'\n]{3,200})'|"([^"\n]{3,200})"|([^\s'"|;&]{3,200}))`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"--password-stdin", "--with-token", "chpasswd"},
		regex: `\b(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+|['"]?%s *(?:\\n)?['"]?[ \t]+)*(?:'(?:[\w.-]{1,32}:)?([^'\n]{3,200})'|"(?:[\w.-]{1,32}:)?([^"\n]{3,200})"|(?:[\w.-]{1,32}:)?([^\s'"|;&]{3,200}))[ \t]*\|[ \t]*[^\n|;&]{0,200}(?:--password-stdin|--with-token|\bchpasswd)\b`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"zip", "7z", "openssl", "ldap", "smbclient", "mongo", "ipmitool", "az login", "proxy-user", "rabbitmqctl", "requirepass", "masterauth"},
		regex: `(?:[ \t]--proxy-user[ \t]{1,3}["']?[\w.-]{1,64}:|(?m:^)[ \t]*(?:requirepass|masterauth)[ \t]+|\b(?:un)?zip\b[^\n|;&]{0,200}?[ \t]-P[ \t]{0,3}|\b7z[ar]?\b[^\n|;&]{0,200}?[ \t]["']?-p|\bopenssl[ \t]+enc\b[^\n|;&]{0,200}?[ \t]-k[ \t]{1,3}|\bldap(?:search|modify|add|delete|passwd|whoami)\b[^\n|;&]{0,200}?[ \t]-w[ \t]{1,3}|\bsmbclient\b[^\n|;&]{0,200}?[ \t]-U[ \t]{1,3}["']?[\w.\\-]{1,64}%|\bmongo(?:sh|dump|restore|export|import)?\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,3}|\bipmitool\b[^\n|;&]{0,200}?[ \t]-P[ \t]{1,3}|\baz[ \t]+login\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,3}|\brabbitmqctl[ \t]+(?:add_user|change_password)[ \t]+\S{1,64}[ \t]{1,3})(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|([^\s'"|;&]{4,200}))`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"securestring", "basicauth", "auth=(", "net use"},
		regex: `(?i)\b(?:ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?|(?:HTTP)?BasicAuth\((?:"[^"\n]{1,64}"|'[^'\n]{1,64}')[ \t]*,[ \t]*|auth=\((?:"[^"\n]{1,64}"|'[^'\n]{1,64}')[ \t]*,[ \t]*)(?:'([^'\n]{4,200})'|"([^"\n]{4,200})")|\bnet[ \t]+use[ \t][^\n]{0,100}?\\\S+[ \t]+([^\s'"/:]{4,200})[ \t]+/user:`, refuse: refuseWord,
	},
	{
		id: "wifi-password", keywords: []string{"psk", "wpa_passphrase", "wep-key", "wifi connect"},
		regex: `(?m)(?:^[ \t]*(?:wpa[_-])?psk[ \t]*=[ \t]*|^[ \t]*wpa-psk[ \t]+|\b(?:802-11-wireless-security|wifi-sec)\.(?:psk|wep-key\d)[ \t]+|\bwpa_passphrase[ \t]+(?:"[^"\n]+"|'[^'\n]+'|\S+)[ \t]+|\bwifi[ \t]+connect[ \t]+(?:"[^"\n]+"|'[^'\n]+'|\S+)[ \t]+password[ \t]+)(?:"([^"\n]{8,64})"|'([^'\n]{8,64})'|([^\s"'(]{8,64})[ \t\r]*(?:$|;|#|&))`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"--username", "--user="},
		regex: `[ \t]--user(?:name[ \t=]{1,3}|=)["']?[^\s"']{1,64}["']?[ \t](?:[^\n|;&]{0,200}?[ \t])?-p[ \t]{1,3}(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|([^\s'"|;&]{4,200}))|[ \t]-p[ \t]{1,3}(?:'([^'\n]{4,200})'|"([^"\n]{4,200})"|([^\s'"|;&]{4,200}))[ \t](?:[^\n|;&]{0,200}?[ \t])?--user(?:name[ \t=]|=)`, refuse: refusePort,
	},
	{
		id: "command-password", keywords: []string{"<(echo", "<(printf", "<( echo", "<( printf"},
		regex: `(?i)-[\w-]{0,40}(?:pass|pwd|token|secret|key|credential|auth)[\w-]{0,40}(?:(?:[ \t=]{1,3}\d{0,2}[ \t]*<?|[ \t=]{1,3}file:)[ \t"']{0,3}|[ \t]+[\w./-]{1,40}[ \t]+\d{0,2}<[ \t]*)<\([ \t]*(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+|['"]?%s *(?:\\n)?['"]?[ \t]+)*(?:'([^'\n]{3,200})'|"([^"\n]{3,200})"|([^\s'"|;&)]{3,200}))[ \t]*\)`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{"send ", "send(", "sendline("}, can: afterPrompt,
		regex: `(?s)(?:\bexpect[ \t]|\.expect\().{0,120}?(?:assword|assphrase|asscode).{0,120}?\bsend(?: [ \t]*(?:-s[ \t]+)?(?:--[ \t]+)?|(?:line)?\([ \t]*)(?:"([^"\n]{3,200}?)(?:\\[rn]){0,2}"|'([^'\n]{3,200}?)(?:\\[rn]){0,2}'|\{([^}\n]{3,200}?)(?:\\[rn]){0,2}\})`, refuse: refuseWord,
	},
	{
		id: "command-password", keywords: []string{`auth"`, `auth\"`}, regex: `"auth\\?"[ \t]*:[ \t]*\\?"([A-Za-z0-9+/]{8,400}={0,2})\\?"`, refuse: refuseNoPair,
	},
	{
		id: "cookie", keywords: []string{"cookie", "-b '", "-b \""}, find: cookies,
	},
}

// afterPrompt reports whether a script for a terminal waits for a prompt of a password before a place.
func afterPrompt(text string, end int) bool {
	before := text[max(0, end-1000):end]
	return strings.Contains(before, "expect") && (strings.Contains(before, "assw") || strings.Contains(before, "assphrase") || strings.Contains(before, "asscode"))
}

// dotted finds the keys that only a full stop between two parts of a certain length identifies: those of
// Z.ai, and the tokens of bots of Discord.
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
