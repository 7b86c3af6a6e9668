package google

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"jp/internal/lazy"
	"jp/provider"
)

// maxMessage bounds how much of a refusal is shown: some servers send pages.
const maxMessage = 500

// failure is the error of a failed request, unless the caller ended it.
func (p *Provider) failure(err error, x *exchange) error {
	var refused refusal
	var known *provider.Error
	switch {
	case errors.As(err, &refused):
		return p.refused(refused, x)
	case errors.As(err, &known):
		known.Provider, known.Message = Name, p.clean(known.Message)
		return known
	}
	failed := &provider.Error{Class: provider.ClassDisconnect, Provider: Name}
	var lost *url.Error // names the address, which may be secret
	var network net.Error
	switch {
	case errors.As(err, &lost) && lost.Op == "parse":
		failed.Class, failed.Message = provider.ClassInvalid, "the base URL is invalid"
	case errors.Is(err, provider.ErrLongEvent):
		failed.Class, failed.Err = provider.ClassInvalid, err
	case errors.As(err, &lost):
		failed.Err = lost.Err
	case x.status != 0, errors.Is(err, io.ErrUnexpectedEOF):
		failed.Err = err
	default:
		failed.Class, failed.Message = provider.ClassInvalid, p.clean(err.Error())
	}
	if errors.As(failed.Err, &network) && network.Timeout() {
		failed.Class = provider.ClassTimeout
	}
	return failed
}

// refused is the server's error in the place of an answer, or in the middle of one.
func (p *Provider) refused(r refusal, x *exchange) *provider.Error {
	status := r.Code
	if x.answer == nil && x.status != 0 {
		status = x.status
	}
	if status == 0 {
		status = cmp.Or(statuses[r.Status], statuses[r.Type])
	}
	message := r.Message
	if message == "" {
		message = r.Status
	}
	d := detailsOf(r.Details)
	if d.delay == 0 {
		d.delay = provider.RetryAfter(x.header)
	}
	class := classOf(status, message, d)
	if (provider.Complaint{Status: r.Status, Type: r.Type, Message: message}).MissesModel(status) {
		class = provider.ClassModel
	}
	if class == provider.ClassAddress && x.url != "" {
		message += " (asked: " + provider.EndpointOf(x.url) + ")"
	}
	return &provider.Error{
		Class:      class,
		Provider:   Name,
		Status:     status,
		Message:    p.clean(message),
		RetryAfter: d.delay,
	}
}

// statuses are those of HTTP by their names at Google, and by the types that gateways give to
// errors in the form of other APIs.
var statuses = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400,
	"UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
	"RESOURCE_EXHAUSTED": 429, "CANCELLED": 499, "ABORTED": 503, "INTERNAL": 500, "UNKNOWN": 500,
	"UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,

	"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
	"insufficient_quota": 402, "billing_error": 402, "request_too_large": 413, "rate_limit_error": 429,
}

type details struct {
	delay  time.Duration // how long to wait
	reason string        // such as API_KEY_INVALID
	quotas []string      // names of the exhausted quotas
}

func detailsOf(list []map[string]any) details {
	var d details
	for _, detail := range list {
		kind, _ := detail["@type"].(string)
		switch kind[strings.LastIndex(kind, ".")+1:] {
		case "RetryInfo":
			text, _ := detail["retryDelay"].(string)
			if delay, err := time.ParseDuration(text); err == nil && delay > 0 {
				d.delay = delay
			}
		case "ErrorInfo":
			d.reason, _ = detail["reason"].(string)
			metadata, _ := detail["metadata"].(map[string]any)
			d.add(metadata["quota_limit"])
		case "QuotaFailure":
			violations, _ := detail["violations"].([]any)
			for _, violation := range violations {
				fields, _ := violation.(map[string]any)
				d.add(fields["quotaId"])
			}
		}
	}
	return d
}

func (d *details) add(quota any) {
	if name, ok := quota.(string); ok {
		d.quotas = append(d.quotas, name)
	}
}

var (
	tooLong  = lazy.Regexp(`(?i)token count.*exceeds|exceeds the maximum number of tokens|payload size exceeds|context (window|length)`)
	badKey   = lazy.Regexp(`(?i)api key (not valid|expired|not found)|api_key_invalid|user location is not supported`)
	badState = lazy.Regexp(`(?i)thought.?signature.* (is )?(not valid|invalid)|(invalid|corrupted) thought.?signature`)
	// Every refusal for want of quota mentions the plan and billing, so these words prove nothing.
	noMoney = lazy.Regexp(`(?i)billing (account|is |has |must|not)|enable billing|credits? (is |are )?(depleted|exhausted)|spending (cap|limit)|limit: 0\b`)
)

func classOf(status int, message string, d details) provider.Class {
	switch {
	case status == http.StatusTooManyRequests:
		if daily(d.quotas) || noMoney().MatchString(message) {
			return provider.ClassQuota
		}
		return provider.ClassRateLimit
	case status == http.StatusPaymentRequired:
		return provider.ClassQuota
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return provider.ClassTimeout
	case status >= 500:
		return provider.ClassOverloaded
	case status == 499:
		return provider.ClassDisconnect
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return provider.ClassOfMissing(message, "")
	case status == http.StatusRequestEntityTooLarge, tooLong().MatchString(message), provider.ClassOfWords(message) == provider.ClassContext:
		return provider.ClassContext
	case noMoney().MatchString(message):
		return provider.ClassQuota
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		strings.HasPrefix(d.reason, "API_KEY_"), badKey().MatchString(message):
		return provider.ClassAuth
	case badState().MatchString(message):
		return provider.ClassState
	case status == 0: // in the midst of an answer, or in its place
		return cmp.Or(provider.ClassOfWords(message), provider.ClassOverloaded)
	}
	return provider.ClassInvalid
}

func daily(quotas []string) bool {
	for _, name := range quotas {
		if strings.Contains(name, "PerDay") {
			return true
		}
	}
	return false
}

// clean is a text on one line, not too long, and without the key.
func (p *Provider) clean(text string) string {
	text = strings.Join(strings.Fields(provider.Masked(text, p.options.Key)), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
