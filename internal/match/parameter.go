// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// maxSureParameters is how many parameters all apps look at: PHP, Node and Django stop
// at a thousand.
const maxSureParameters = 1000

// parameter is what an app may take for one parameter of a query.
type parameter struct {
	// name and value are as sent.
	name, value string
	// wide is true where "&" alone parts parameters, narrow where ";" does too.
	wide, narrow bool
	// sure is true if every app finds the parameter here, with this value.
	sure bool
}

// eachParameter calls found with the parameters of a query, as parted by "&", and as
// parted by ";" too.
func eachParameter(query string, found func(parameter)) {
	count := 0
	for query != "" {
		var wide string
		wide, query, _ = strings.Cut(query, "&")
		sure := count < maxSureParameters
		if !strings.Contains(wide, ";") {
			callWith(wide, parameter{wide: true, narrow: true, sure: sure}, found)
			count++
			continue
		}
		callWith(wide, parameter{wide: true}, found)
		for narrow := range strings.SplitSeq(wide, ";") {
			callWith(narrow, parameter{narrow: true}, found)
			count++
		}
	}
}

func callWith(text string, p parameter, found func(parameter)) {
	if text == "" {
		return
	}
	p.name, p.value, _ = strings.Cut(text, "=")
	// Some apps drop a parameter with a malformed escape, others keep it.
	p.sure = p.sure && isWellEscaped(text)
	found(p)
}

func isWellEscaped(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
				return false
			}
			i += 2
		}
	}
	return true
}

// spelling is a way in which apps decode a name or a value.
type spelling struct {
	// plus keeps a plus; forms make it a space.
	plus bool
	// escapes are kept, as some apps do where one of them is malformed.
	escapes bool
}

// spellings of a text are few: nearly all texts have one.
var spellings = [...]spelling{{}, {plus: true}, {escapes: true}}

// differs reports whether the spelling may give another text than the first one does.
func (s spelling) differs(text string) bool {
	return s.plus && strings.Contains(text, "+") || s.escapes && !isWellEscaped(text)
}

func (s spelling) decode(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '+' && !s.plus:
			out = append(out, ' ')
		case c == '%' && !s.escapes && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			out = append(out, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// isNamed reports whether some app, and whether every app, takes it for the name.
func (p *parameter) isNamed(name string) (some, every bool) {
	if p.name == name {
		return true, !strings.ContainsAny(name, "%+")
	}
	if !strings.ContainsAny(p.name, "%+") {
		return false, false
	}
	every = true
	for _, way := range spellings {
		if way != spellings[0] && !way.differs(p.name) {
			continue
		}
		is := way.decode(p.name) == name
		some, every = some || is, every && is
	}
	return some, every
}
