package google

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestRefusals(t *testing.T) {
	const exceeded = `You exceeded your current quota, please check your plan and billing details.`
	quota := func(id string) string {
		return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` + id + `"}]},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}`
	}
	for _, test := range []struct {
		name             string
		status           int
		message, details string
		class            provider.Class
		after            time.Duration
	}{
		{"bad request", 400, "Invalid value at 'contents'.", "", provider.ClassInvalid, 0},
		{"bad key", 400, "API key not valid. Please pass a valid API key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`, provider.ClassAuth, 0},
		{"expired key", 400, "Please renew it.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_EXPIRED"}`, provider.ClassAuth, 0},
		{"here not", 400, "User location is not supported for the API use.", "", provider.ClassAuth, 0},
		{"too long", 400, "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", "", provider.ClassContext, 0},
		{"state", 400, "Thought signature is not valid.", "", provider.ClassState, 0},
		{"too large", 413, "Too large", "", provider.ClassContext, 0},
		{"no key", 401, "Request had invalid authentication credentials.", "", provider.ClassAuth, 0},
		{"no money", 402, "Pay.", "", provider.ClassQuota, 0},
		{"not allowed", 403, "Your API key was reported as leaked.", "", provider.ClassAuth, 0},
		{"no billing", 403, "This API method requires billing. Enable billing on project 1.", "", provider.ClassQuota, 0},
		{"no model", 404, "models/gemini-9 is not found for API version v1beta.", "", provider.ClassModel, 0},
		{"per minute", 429, exceeded, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), provider.ClassRateLimit, 36500 * time.Millisecond},
		{"per day", 429, exceeded, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), provider.ClassQuota, 36500 * time.Millisecond},
		{"per day, elsewhere", 429, exceeded, `{"@type":"google.rpc.ErrorInfo","metadata":{"quota_limit":"RequestsPerDay"}}`, provider.ClassQuota, 0},
		{"never", 429, exceeded + " limit: 0, model: gemini-3-pro", "", provider.ClassQuota, 0},
		{"used up", 429, "Your prepayment credits are depleted.", "", provider.ClassQuota, 0},
		{"odd details", 429, exceeded, `{"@type":5},{"@type":"x.QuotaFailure","violations":[7]},{"@type":"x.RetryInfo","retryDelay":"soon"}`, provider.ClassRateLimit, 0},
		{"internal", 500, "An internal error has occurred.", "", provider.ClassOverloaded, 0},
		{"gateway", 502, "Bad gateway.", "", provider.ClassOverloaded, 0},
		{"overloaded", 503, "The model is overloaded.", "", provider.ClassOverloaded, 0},
		{"deadline", 504, "Deadline expired.", "", provider.ClassTimeout, 0},
	} {
		for _, form := range []string{"%s", "[%s\n]"} {
			t.Run(test.name+" "+form, func(t *testing.T) {
				body := fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":"X","details":[%s]}}`, test.status, test.message, test.details)
				p := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.WriteHeader(test.status)
					fmt.Fprintf(w, form, body)
				})
				_, err := collect(t, p, question())
				failure := requireClass(t, test.class, err)
				require.Equal(t, test.status, failure.Status)
				require.Equal(t, test.message, failure.Message)
				require.Equal(t, test.after, failure.RetryAfter)
			})
		}
	}
}

func TestRefusalsWithoutJSON(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<html>\n"+strings.Repeat("é", maxMessage)+"</html>")
	})
	_, err := collect(t, p, question())
	failure := requireClass(t, provider.ClassOverloaded, err)
	require.Equal(t, 7*time.Second, failure.RetryAfter)
	require.LessOrEqual(t, len(failure.Message), maxMessage+len("…"))

	p = serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	_, err = collect(t, p, question())
	require.Equal(t, "401 Unauthorized", requireClass(t, provider.ClassAuth, err).Message)
}

func TestTheKeyIsInNoError(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		key := r.Header.Get("X-Goog-Api-Key")
		_, _ = io.WriteString(w, `{"error":{"message":"The key `+key[:3]+`\u0000`+key[3:]+` is bad."}}`)
	})
	_, err := collect(t, p, question())
	require.Equal(t, "The key [key] is bad.", requireClass(t, provider.ClassAuth, err).Message)

	server := httptest.NewServer(nil)
	server.Close()
	for _, test := range []struct {
		base, model string
		class       provider.Class
	}{
		{server.URL + "/" + testKey + "?key=" + testKey, "gemini-3-flash", provider.ClassDisconnect},
		{"http://" + testKey + "/%zz", "gemini-3-flash", provider.ClassInvalid},
		{server.URL, "", provider.ClassInvalid},
		{server.URL, "../" + testKey, provider.ClassInvalid},
	} {
		request := question()
		request.Model = test.model
		_, err := collect(t, New(Options{Key: testKey, BaseURL: test.base}), request)
		requireClass(t, test.class, err)
	}
}
