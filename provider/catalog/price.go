package catalog

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// A Price is what a million tokens cost, in US dollars. The zero value is
// unknown.
type Price struct {
	known                                bool
	input, output, cacheRead, cacheWrite big.Rat
}

// ParsePrice reads a price from decimal numbers: input, output, and where they
// differ from the input what is read from a cache and what is written to one.
func ParsePrice(amounts []string) (Price, error) {
	if len(amounts) < 2 || len(amounts) > 4 {
		return Price{}, fmt.Errorf("%w: it has %s, not two to four", ErrPrice, numbers(len(amounts)))
	}
	p := Price{known: true}
	into := []*big.Rat{&p.input, &p.output, &p.cacheRead, &p.cacheWrite}
	for i, amount := range amounts {
		if !isDecimal(amount) {
			return Price{}, fmt.Errorf("%w: %q", ErrPrice, amount)
		}
		into[i].SetString(amount)
	}
	for i := len(amounts); i < len(into); i++ {
		into[i].Set(&p.input)
	}
	return p, nil
}

func numbers(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

// isDecimal reports whether a text is a plain decimal number of bearable length.
func isDecimal(s string) bool {
	whole, fraction, point := strings.Cut(s, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return len(s) <= 20 && digits(whole) && (!point || digits(fraction))
}

// hourFactor is how much more it costs to write what a cache keeps for an hour: 2 instead of 1.25 of the input's price.
var hourFactor = big.NewRat(8, 5)

// Of is what a use costs, in US dollars as a decimal number; "" where the price
// is unknown.
func (p Price) Of(u conversation.Usage) string {
	if !p.known {
		return ""
	}
	sum := new(big.Rat)
	add := func(tokens int, price *big.Rat) {
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(int64(max(0, tokens)), 1_000_000), price))
	}
	add(u.Input-u.CacheRead-u.CacheWrite, &p.input)
	add(u.CacheRead, &p.cacheRead)
	hour := min(u.CacheWriteHour, u.CacheWrite)
	add(u.CacheWrite-hour, &p.cacheWrite)
	add(hour, new(big.Rat).Mul(&p.cacheWrite, hourFactor))
	add(u.Output, &p.output)
	return trimmed(sum.FloatString(8))
}

// trimmed is a decimal number without zeros at its end.
func trimmed(decimal string) string {
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// listed are the list prices of models. What is not here is unknown, which is
// better than wrong.
func listed() map[string][]string {
	return map[string][]string{
		"anthropic/claude-opus-4-1":    {"15", "75", "1.50", "18.75"},
		"anthropic/claude-opus-4-5":    {"5", "25", "0.50", "6.25"},
		"anthropic/claude-sonnet-4":    {"3", "15", "0.30", "3.75"},
		"anthropic/claude-sonnet-4-5":  {"3", "15", "0.30", "3.75"},
		"anthropic/claude-haiku-4-5":   {"1", "5", "0.10", "1.25"},
		"openai/gpt-5":                 {"1.25", "10", "0.125"},
		"openai/gpt-5-mini":            {"0.25", "2", "0.025"},
		"openai/gpt-5-nano":            {"0.05", "0.40", "0.005"},
		"openai/gpt-5.1":               {"1.25", "10", "0.125"},
		"openai/gpt-4.1":               {"2", "8", "0.50"},
		"openai/gpt-4.1-mini":          {"0.40", "1.60", "0.10"},
		"openai/gpt-4o":                {"2.50", "10", "1.25"},
		"openai/gpt-4o-mini":           {"0.15", "0.60", "0.075"},
		"google/gemini-2.5-flash":      {"0.30", "2.50", "0.075"},
		"google/gemini-2.5-flash-lite": {"0.10", "0.40", "0.025"},
	}
}

// PriceOf is the list price of a model, "vendor/name", as far as it is known.
func PriceOf(model string) Price {
	best := ""
	prices := listed()
	for name := range prices {
		if len(name) > len(best) && isRelease(model, name) {
			best = name
		}
	}
	if best == "" {
		return Price{}
	}
	p, _ := ParsePrice(prices[best])
	return p
}

// isRelease reports whether a model is the one that is named, or a dated release
// of it: what comes behind the name is a date or "latest". A new model whose
// name only begins alike has a price of its own.
func isRelease(model, name string) bool {
	rest, ok := strings.CutPrefix(model, name)
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, "-")
	return rest == "" || rest == "latest" || rest == "0" || len(rest) >= 8 && strings.Trim(rest, "0123456789-") == ""
}

// Known reports whether there is a price. It may be 0.
func (p Price) Known() bool { return p.known }

// WithPrice is a model that adds to the end of each answer what it cost, if the provider does
// not say so itself.
func WithPrice(p provider.Provider, price Price) provider.Provider { return priced{p, price} }

type priced struct {
	provider.Provider
	price Price
}

// Stream implements [provider.Provider].
func (p priced) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for chunk, err := range p.Provider.Stream(ctx, request) {
			if chunk.Usage != nil {
				usage := *chunk.Usage
				if usage.CostUSD == "" {
					usage.CostUSD = p.price.Of(usage)
				}
				usage.CacheWriteHour = 0
				chunk.Usage = &usage
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}
