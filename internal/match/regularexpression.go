// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// maxRegularExpression is how many characters an expression may have.
	maxRegularExpression = 512
	// maxInstructions is how many instructions an expression may compile to: it takes
	// time in proportion at each character that it looks at. A character of an
	// expression is one instruction, and as many times as it is repeated.
	maxInstructions = 1024
	// maxRead is how many bytes of a request an expression looks at. What is longer
	// counts as a match, so that nobody gets around a rule by writing more.
	maxRead = 4096
)

// regularExpression compares whole texts with an RE2 expression.
type regularExpression struct{ whole *regexp.Regexp }

// CompileRegularExpression readies an expression that must match a whole text. A dot
// matches every character, so that no character in a value can hide it. An error says
// where the expression is wrong.
func CompileRegularExpression(expression string, ignoreCase bool) (*regexp.Regexp, error) {
	if len(expression) > maxRegularExpression {
		return nil, fmt.Errorf("regular expression has %d characters, at most %d are allowed; shorten it", len(expression), maxRegularExpression)
	}
	flags := "s"
	if ignoreCase {
		flags = "is"
	}
	// On its own first, since a bracket could close the one that is put around it.
	if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
		return nil, describe(expression, err)
	}
	whole := `\A(?` + flags + `:` + expression + `)\z`
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		return nil, describe(expression, err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", expression, err)
	}
	if len(program.Inst) > maxInstructions {
		return nil, fmt.Errorf("regular expression %q is too much work: it repeats so much that it takes %d steps for a character, at most %d are allowed; lower its {counts}",
			expression, len(program.Inst), maxInstructions)
	}
	return regexp.Compile(whole)
}

// describe says what is wrong with an expression, and at which character.
func describe(expression string, err error) error {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return fmt.Errorf("regular expression %q: %w", expression, err)
	}
	at := max(strings.Index(expression, wrong.Expr), 0)
	return fmt.Errorf("regular expression %q: %s at character %d, in %q; mend it there (RE2 syntax)", expression, wrong.Code, at+1, wrong.Expr)
}

// compilePathExpression readies an expression for paths in canonical form.
func compilePathExpression(expression string, matching ruleset.PathMatching) (regularExpression, error) {
	whole, err := CompileRegularExpression(expression, matching != ruleset.PathStrict)
	return regularExpression{whole}, err
}

// matches reports whether the expression matches the text, and whether that is known:
// of a text that is too long to be looked at, it is assumed.
func (r regularExpression) matches(text string) (matches, known bool) {
	if len(text) > maxRead {
		return true, false
	}
	return r.whole.MatchString(text), true
}

// CheckPathExpression refuses an expression that can match no path in canonical form
// for the way it is spelled, and says how to spell it.
func CheckPathExpression(expression string, matching ruleset.PathMatching) error {
	compiled, err := CompileRegularExpression(expression, matching != ruleset.PathStrict)
	if err != nil {
		return err
	}
	if err := checkSpelling(expression, matching != ruleset.PathStrict); err != nil {
		return err
	}
	if start := leadingLiteral(compiled.String(), ruleset.PathLoose); start != "" && start[0] != '/' {
		return fmt.Errorf("regular expression %q begins with %q, but it must match the whole path, which begins with a slash; write %q",
			expression, start, "/"+strings.TrimPrefix(expression, "^"))
	}
	return nil
}

// escapes are escapes of a URL that stand side by side.
var escapes = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)

// checkSpelling wants literal text as it stands in canonical paths.
func checkSpelling(expression string, loose bool) error {
	for i, char := range expression {
		if char <= ' ' || char > '~' {
			return fmt.Errorf("regular expression %q: the character %q at byte %d stands escaped in every path; write %q", expression, char, i+1, canonicalEscapes(escapeAll(string(char)), loose))
		}
	}
	for _, run := range escapes.FindAllString(expression, -1) {
		canonical := canonicalEscapes(run, loose)
		if canonical == run || loose && strings.EqualFold(canonical, run) {
			continue
		}
		return fmt.Errorf("regular expression %q: %q stands as %q in paths; write %q", expression, run, canonical, regexp.QuoteMeta(canonical))
	}
	return nil
}

func canonicalEscapes(run string, loose bool) string {
	canonical := decode(run, slashes{})
	if loose {
		canonical = foldCase(canonical)
	}
	return canonical
}

func escapeAll(text string) string {
	var out strings.Builder
	for i := range len(text) {
		writeEscape(&out, text[i])
	}
	return out.String()
}

// leadingLiteral is the text that every path begins with which the expression matches;
// folded where paths are. It may be shorter than it could be.
func leadingLiteral(expression string, matching ruleset.PathMatching) string {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return ""
	}
	literal, _ := appendLiteral(nil, parsed, matching != ruleset.PathStrict)
	return string(literal)
}

// appendLiteral appends the literal that begins a part of an expression, and reports
// whether the part is nothing else, so that more may follow.
func appendLiteral(literal []byte, part *syntax.Regexp, loose bool) (longer []byte, whole bool) {
	switch part.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpBeginLine:
		return literal, true
	case syntax.OpCapture:
		return appendLiteral(literal, part.Sub[0], loose)
	case syntax.OpLiteral:
		if part.Flags&syntax.FoldCase != 0 && !loose {
			return literal, false
		}
		for _, char := range part.Rune {
			if char > '~' {
				return literal, false
			}
			c := byte(char)
			if loose {
				c = lower(c)
			}
			literal = append(literal, c)
		}
		return literal, true
	case syntax.OpConcat:
		for _, sub := range part.Sub {
			if literal, whole = appendLiteral(literal, sub, loose); !whole {
				return literal, false
			}
		}
		return literal, true
	default:
		return literal, false
	}
}
