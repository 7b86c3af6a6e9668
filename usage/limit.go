package usage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"jp/conversation"
	"jp/provider"
	"jp/provider/catalog"
)

// The settings of the limits.
const (
	TurnKey = "limits.cost_usd"
	DayKey  = "limits.cost_usd_day"
)

// A Meter is a model whose calls are counted.
type Meter struct {
	provider.Provider
	Price  catalog.Price
	Ledger *Ledger // nil without a place for it
	Day    float64 // US dollars that all calls of a day may cost; 0: any number
}

// Stream asks the model. If the day's limit is reached, it fails with an error of the class
// [provider.ClassBudget].
func (m *Meter) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	booked, on := new(big.Rat), ""
	begin := func(input *big.Rat) error {
		if m.Day <= 0 {
			return nil
		}
		err := m.Ledger.Change(func(day string, spent *big.Rat) (*big.Rat, error) {
			if reached(spent, input, m.Day) {
				return nil, refuse(DayKey, "the model calls of today cost "+dollars(spent), input, m.Day)
			}
			booked, on = input, day
			return input, nil
		})
		var refused *provider.Error
		if err != nil && !errors.As(err, &refused) {
			return refusal(DayKey + " is set, and jp could not count what was spent: " + err.Error())
		}
		return err
	}
	return count(ctx, m.Provider, request, m.Price, begin, func(cost *big.Rat) {
		if cost.Sign() == 0 && booked.Sign() == 0 {
			return
		}
		// If there is a limit, the next call reports an unwritable ledger.
		_ = m.Ledger.Change(func(day string, _ *big.Rat) (*big.Rat, error) {
			if on != "" && day != on {
				return nil, nil // it belongs to the day on which it began
			}
			return new(big.Rat).Sub(cost, booked), nil
		})
	})
}

// A TurnCost is the cost of the model calls of a turn, its delegates included.
type TurnCost struct {
	limit float64

	mu    sync.Mutex
	spent big.Rat
}

// NewTurnCost is a turn that may cost so much, in US dollars; 0: any amount.
func NewTurnCost(limit float64) *TurnCost { return &TurnCost{limit: limit} }

// Count adds a recorded cost, a decimal number, or "".
func (t *TurnCost) Count(cost string) {
	if sum, ok := parse(cost); ok {
		t.add(sum)
	}
}

func (t *TurnCost) add(cost *big.Rat) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spent.Add(&t.spent, cost)
}

// Limit is the model within the turn's limit: a call that would reach it fails with an error of the class
// [provider.ClassBudget].
func (t *TurnCost) Limit(model provider.Provider, price catalog.Price) provider.Provider {
	if t.limit <= 0 {
		return model
	}
	return limited{model, price, t}
}

type limited struct {
	provider.Provider
	price catalog.Price
	turn  *TurnCost
}

// Stream implements [provider.Provider].
func (l limited) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	booked := new(big.Rat)
	return count(ctx, l.Provider, request, l.price, func(input *big.Rat) error {
		l.turn.mu.Lock()
		defer l.turn.mu.Unlock()
		if reached(&l.turn.spent, input, l.turn.limit) {
			return refuse(TurnKey, "the turn cost "+dollars(&l.turn.spent), input, l.turn.limit)
		}
		booked = input
		l.turn.spent.Add(&l.turn.spent, input)
		return nil
	}, func(cost *big.Rat) { l.turn.add(new(big.Rat).Sub(cost, booked)) })
}

// count asks a model. It calls begin before with the estimated cost of the input, and end behind with the
// cost of the call.
func count(ctx context.Context, model provider.Provider, request *provider.Request, price catalog.Price, begin func(*big.Rat) error, end func(*big.Rat)) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		input, _ := parse(InputCost(price, request))
		if err := begin(input); err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		cost, stated := new(big.Rat), false
		defer func() { end(cost) }()
		for chunk, err := range model.Stream(ctx, request) {
			if err == nil && chunk.Kind != provider.ChunkKeepAlive && !stated {
				cost = input
			}
			if chunk.Usage != nil {
				if said, ok := parse(chunk.Usage.CostUSD); ok {
					cost, stated = said, true
				}
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// InputCost is the estimated cost of a request's input, without the savings of a cache, or "" if the price is
// unknown.
func InputCost(price catalog.Price, request *provider.Request) string {
	return price.Of(conversation.Usage{Input: request.Tokens()})
}

func reached(spent, input *big.Rat, limit float64) bool {
	most, ok := parse(strconv.FormatFloat(limit, 'f', -1, 64))
	return ok && new(big.Rat).Add(spent, input).Cmp(most) >= 0
}

func refuse(key, spent string, input *big.Rat, limit float64) error {
	return refusal(fmt.Sprintf("%s, and the input of the next one about %s, which reaches %s (%s)",
		spent, dollars(input), key, conversation.Dollars(strconv.FormatFloat(limit, 'f', -1, 64))))
}

func refusal(text string) error { return &provider.Error{Class: provider.ClassBudget, Message: text} }

func dollars(amount *big.Rat) string { return conversation.Dollars(decimal(amount)) }

// parse reads a decimal number. For any other text it returns 0 and false.
func parse(text string) (*big.Rat, bool) {
	sum := new(big.Rat)
	if text == "" || len(text) > 40 || strings.Trim(text, "0123456789.") != "" {
		return sum, false
	}
	if _, ok := sum.SetString(text); !ok {
		return new(big.Rat), false
	}
	return sum, true
}

func decimal(amount *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(amount.FloatString(8), "0"), ".")
}
