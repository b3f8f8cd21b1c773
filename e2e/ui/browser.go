package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/chromedp/chromedp"
)

// browser is one tab of Chromium with the interface in it.
type browser struct {
	ctx         context.Context
	address     string
	screenshots string
	pictures    int

	mutex  sync.Mutex
	faults []string
}

// startBrowser starts Chromium with an empty profile; it ends with the function that is returned.
func startBrowser(ctx context.Context, program, address, screenshots string) (*browser, func(), error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1600, 1000))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(allocator)
	b := &browser{ctx: tab, address: address, screenshots: screenshots}
	end := func() { endTab(); endAllocator() }
	if err := chromedp.Do(tab); err != nil {
		end()
		return nil, nil, fmt.Errorf("starting the browser: %w", err)
	}
	go b.listen(chromedp.Console(tab))
	return b, end, nil
}

// listen notes the errors of the console: also exceptions, and answers that failed.
func (b *browser) listen(console iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range console {
		if err != nil {
			return // the tab has ended
		}
		if m.Type == chromedp.ConsoleError || m.IsException() {
			b.note("%s %s %s", m.Type, m.Text, m.URL)
		}
	}
}

func (b *browser) note(format string, args ...any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// takeFaults returns what listen noted since the last call.
func (b *browser) takeFaults() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	faults := b.faults
	b.faults = nil
	return faults
}

// open shows a page from its start, as after a reload.
func (b *browser) open(page string) error {
	// The interface keeps its page behind #, so that another page alone would load nothing again.
	return b.do("opening "+page, chromedp.Navigate("about:blank"), chromedp.Navigate(b.address+"/#/"+page))
}

// do runs actions within the patience of a person.
func (b *browser) do(what string, actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		text, _ := b.text()
		return fmt.Errorf("%s: %w; the page reads:\n%s", what, err, text)
	}
	return nil
}

// click clicks the first visible element that an XPath names, as soon as it is there. It does not aim with the mouse, because menus move
// while they open.
func (b *browser) click(path string) error {
	return b.do("clicking "+path, ignore(chromedp.Poll[bool](fmt.Sprintf(`(() => {
		const found = document.evaluate(%s, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null)
		for (let i = 0; i < found.snapshotLength; i++) {
			const element = found.snapshotItem(i)
			if (element.getClientRects().length > 0 && getComputedStyle(element).visibility == "visible") {
				element.click()
				return true
			}
		}
		return false })()`, quote(path)), chromedp.WithPollingTimeout(0))))
}

// press clicks the button with a label.
func (b *browser) press(label string) error {
	return b.click(fmt.Sprintf(`//button[not(@disabled) and .//text()[normalize-space()=%q]]`, label))
}

// pressIn clicks the button with a label inside the window that is in front.
func (b *browser) pressIn(label string) error {
	return b.click(fmt.Sprintf(`(//div[contains(@class,"ant-modal-wrap") and not(contains(@style,"display: none"))]`+
		`//button[not(@disabled) and .//text()[normalize-space()=%q]])[last()]`, label))
}

// fill replaces the text of an input.
func (b *browser) fill(path, text string) error {
	return b.do("filling "+path, chromedp.WaitVisible(path), selectText(path), chromedp.SendKeys(path, text))
}

// selectText selects the whole text of an input, so that typing replaces it.
func selectText(path string) chromedp.Action[chromedp.Void] {
	return ignore(chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		document.evaluate(%s, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue.select()
		return true })()`, quote(path))))
}

// ignore runs an action whose value does not matter.
func ignore[T any](action chromedp.Action[T]) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := action(ctx, t)
		return chromedp.Void{}, err
	}
}

// choose opens a list and clicks one of its entries.
func (b *browser) choose(path, entry string) error {
	if err := b.click(path); err != nil {
		return err
	}
	return b.click(fmt.Sprintf(`//div[contains(@class,"ant-select-dropdown") and not(contains(@class,"ant-select-dropdown-hidden"))]`+
		`//li[normalize-space()=%q]`, entry))
}

// waitFor waits until an expression of the page is true; what names it.
func (b *browser) waitFor(what, expression string) error {
	return b.do("waiting for "+what, ignore(chromedp.Poll[bool]("!!("+expression+")", chromedp.WithPollingTimeout(0))))
}

// waitForText waits until the page has a text.
func (b *browser) waitForText(text string) error {
	return b.waitFor(fmt.Sprintf("the text %q", text), fmt.Sprintf(`document.body && document.body.innerText.includes(%s)`, quote(text)))
}

// waitForRow waits until the row of a table that has all words is there.
func (b *browser) waitForRow(words ...string) error {
	return b.waitFor(fmt.Sprintf("a row with %q", words), rows(words)+`.length > 0`)
}

// waitForNoRow waits until no row has all words.
func (b *browser) waitForNoRow(words ...string) error {
	return b.waitFor(fmt.Sprintf("no row with %q", words), rows(words)+`.length == 0`)
}

// rows is an expression of the rows of tables that have all words.
func rows(words []string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".ant-table-scroll tbody tr, .ant-table-body tbody tr")].filter(r => %s.every(w =>
		r.innerText.toLowerCase().includes(w.toLowerCase())))`, quote(words))
}

// text returns the text of the page.
func (b *browser) text() (string, error) {
	return chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
}

// picture writes a screenshot, if they are wanted.
func (b *browser) picture(name string) error {
	if b.screenshots == "" {
		return nil
	}
	content, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("taking a screenshot: %w", err)
	}
	b.pictures++
	path := filepath.Join(b.screenshots, fmt.Sprintf("%02d-%s.png", b.pictures, name))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("writing a screenshot: %w", err)
	}
	return nil
}

// quote writes a value as JavaScript.
func quote(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts always have a form
	}
	return string(text)
}
