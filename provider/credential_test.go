package provider_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

// TestRefusedCredentials tells a refused key from other refusals, by the bodies of servers.
func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		header string
		body   string
		want   bool
	}{
		"anthropic, wrong key":          {401, "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}`, true},
		"anthropic, expired token":      {401, "", `{"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired. Please obtain a new token or refresh your existing token."}}`, true},
		"anthropic, bearer":             {401, "", `{"type":"error","error":{"type":"authentication_error","message":"Invalid bearer token"}}`, true},
		"anthropic, another country":    {403, "", `{"type":"error","error":{"type":"forbidden","message":"Request not allowed from your region"}}`, false},
		"anthropic, a full account":     {400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, false},
		"openai, wrong key":             {401, "", `{"error":{"message":"Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, true},
		"openai, expired":               {401, "", `{"error":{"message":"Your authentication token has expired. Please try signing in again.","type":null,"code":"token_expired","param":null},"status":401}`, true},
		"openai, no organization":       {401, "", `{"error":{"message":"You must be a member of an organization to use the API.","type":"invalid_request_error"}}`, false},
		"openai, another country":       {403, "", `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, false},
		"openai, no access":             {403, "", `{"error":{"message":"Project proj_1 does not have access to model gpt-6","type":"invalid_request_error","code":"model_not_found"}}`, false},
		"google, wrong key":             {400, "", `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, true},
		"google, expired key":           {400, "", `{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}`, true},
		"google, wrong argument":        {400, "", `{"error":{"code":400,"message":"Invalid value at 'contents'","status":"INVALID_ARGUMENT"}}`, false},
		"vertex, expired":               {401, "", `[{"error":{"code":401,"message":"Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.","status":"UNAUTHENTICATED","details":[{"reason":"ACCESS_TOKEN_EXPIRED"}]}}]`, true},
		"vertex, no permission":         {403, "", `{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p' (or it may not exist).","status":"PERMISSION_DENIED"}}`, false},
		"bedrock, expired":              {403, "", `{"message":"The security token included in the request is expired"}`, true},
		"bedrock, bearer":               {403, "", `{"Message":"Bearer Token has expired"}`, true},
		"bedrock, no permission":        {403, "", `{"message":"User: arn:aws:iam::1:user/u is not authorized to perform: bedrock:InvokeModel"}`, false},
		"azure, wrong key":              {401, "", `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key."}}`, true},
		"azure, entra":                  {401, "", `{"error":{"code":"Unauthorized","message":"Access token is missing, invalid, audience is incorrect (https://cognitiveservices.azure.com), or have expired."}}`, true},
		"openrouter":                    {401, "", `{"error":{"message":"No auth credentials found","code":401}}`, true},
		"openrouter, user":              {401, "", `{"error":{"message":"User not found.","code":401}}`, true},
		"mistral":                       {401, "", `{"message":"Unauthorized","request_id":"1"}`, true},
		"mistral, detail":               {401, "", `{"detail":"Unauthorized"}`, true},
		"deepseek":                      {401, "", `{"error":{"message":"Authentication Fails, Your api key: ****1234 is invalid","type":"authentication_error","param":null,"code":"invalid_request_error"}}`, true},
		"groq":                          {401, "", `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`, true},
		"xai":                           {400, "", `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***ey. You can obtain an API key from https://console.x.ai."}`, true},
		"kimi":                          {401, "", `{"error":{"message":"Invalid Authentication","type":"invalid_authentication_error"}}`, true},
		"glm":                           {401, "", `{"error":{"code":"1000","message":"身份验证失败"},"msg":"token expired or incorrect"}`, true},
		"vllm":                          {401, "", `{"error":"Unauthorized"}`, true},
		"ollama":                        {401, "", `{"error": "unauthorized"}`, true},
		"litellm":                       {401, "", `{"error":{"message":"Authentication Error, Invalid proxy server token passed.","type":"token_not_found_in_db","param":"key","code":"401"}}`, true},
		"litellm, expired":              {401, "", `{"error":{"message":"Authentication Error - Expired Key. Key Expiry time 2026-11-28 and current time 2026-11-29","type":"expired_key","code":"400"}}`, true},
		"litellm, model":                {401, "", `{"error":{"message":"key not allowed to access model. This key can only access models=['a']","type":"key_model_access_denied","code":"401"}}`, false},
		"kong":                          {401, "", `{"message":"Invalid authentication credentials"}`, true},
		"envoy":                         {401, "", `Jwt is expired`, true},
		"apigee":                        {401, "", `{"fault":{"faultstring":"Access Token expired","detail":{"errorcode":"keymanagement.service.access_token_expired"}}}`, true},
		"nothing said":                  {401, "", ``, true},
		"in a header":                   {401, `Bearer error="invalid_token"`, `<html>401</html>`, true},
		"nothing said, forbidden":       {403, "", ``, false},
		"a page of a firewall":          {403, "", `<html><head><title>403 Forbidden</title></head><body>Sorry, you have been blocked</body></html>`, false},
		"words about a key, no refusal": {404, "", `{"error":{"message":"API key not valid"}}`, false},
		"too many requests":             {429, "", `{"error":{"message":"Rate limit of your API key reached"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			if tc.header != "" {
				header.Set("WWW-Authenticate", tc.header)
			}
			require.Equal(t, tc.want, provider.RefusesCredential(tc.status, header, []byte(tc.body)))
		})
	}
}
