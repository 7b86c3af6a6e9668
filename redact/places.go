package redact

import "strings"

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
