package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"jp/internal/safefile"
)

// A Ledger has the cost of one user's model calls today, in all repositories. Several processes may use it at
// once.
type Ledger struct {
	Path string // of the file; its lock is beside it
	Now  func() time.Time
}

// OpenLedger is the ledger in the folder of a user's state.
func OpenLedger(stateDir string, now func() time.Time) *Ledger {
	if stateDir == "" {
		return nil
	}
	return &Ledger{Path: filepath.Join(stateDir, "spending.json"), Now: now}
}

const wayOut = ". Without the file jp counts from 0 on"

type ledgerEntry struct {
	Day     string `json:"day"` // in the user's time zone
	CostUSD string `json:"cost_usd"`
}

// errNoLedger is the error of a missing folder for the file.
var errNoLedger = errors.New("there is no folder for jp's state (XDG_STATE_HOME)")

// Change adds the result of decide to the costs of today, in US dollars. If decide fails, the costs stay as
// they were.
func (l *Ledger) Change(decide func(day string, spent *big.Rat) (*big.Rat, error)) (err error) {
	if l == nil {
		return errNoLedger
	}
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return err
	}
	lock, err := safefile.OpenShared(l.Path+".lock", 0o600, nil)
	if err != nil {
		return err
	}
	defer safefile.Unlock(lock)
	if err := safefile.Lock(context.Background(), lock); err != nil {
		return err
	}
	today := l.Now().Format(time.DateOnly)
	spent, err := l.read(today)
	if err != nil {
		return err
	}
	more, err := decide(today, spent)
	if err != nil || more == nil || more.Sign() == 0 {
		return err
	}
	sum := new(big.Rat).Add(spent, more)
	if sum.Sign() < 0 {
		sum.SetInt64(0)
	}
	data, err := json.Marshal(ledgerEntry{Day: today, CostUSD: decimal(sum)})
	if err != nil {
		return err
	}
	// After a power cut the file may be empty, which counts as 0.
	return safefile.Replace(l.Path, append(data, '\n'), safefile.Options{Volatile: true})
}

// Today is the cost of today, as a decimal number.
func (l *Ledger) Today() (spent string, err error) {
	if l == nil {
		return "", errNoLedger
	}
	sum, err := l.read(l.Now().Format(time.DateOnly))
	if err != nil {
		return "", err
	}
	return decimal(sum), nil
}

func (l *Ledger) read(today string) (*big.Rat, error) {
	data, err := safefile.ReadRegular(l.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return new(big.Rat), nil
	}
	var e ledgerEntry
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was spent today: %s: %w%s", l.Path, err, wayOut)
	}
	if e.Day != today {
		return new(big.Rat), nil
	}
	sum, ok := parse(e.CostUSD)
	if !ok || sum.Sign() < 0 {
		return nil, fmt.Errorf("read what was spent today: %s: cost_usd is %.40q%s", l.Path, e.CostUSD, wayOut)
	}
	return sum, nil
}
