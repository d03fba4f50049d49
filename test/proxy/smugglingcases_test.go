// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import "strings"

// smugglingCases are the corpus, by what is odd about them.
func smugglingCases() map[string]smuggled {
	all := map[string]smuggled{}
	for group, cases := range map[string]map[string]smuggled{
		"lengths": lengthCases(), "codings": codingCases(), "chunks": chunkCases(), "lines": lineCases(),
		"request line": requestLineCases(), "hosts": hostCases(), "sequences": sequenceCases(), "versions": versionCases(),
	} {
		for name, tc := range cases {
			all[group+": "+name] = tc
		}
	}
	return all
}

const (
	hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
	ended  = "0\r\n\r\n"
)

// post is the head of a POST with these fields, and a body.
func post(fields, body string) string {
	return "POST /p HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body
}

func refusedCase(bytes string) smuggled { return smuggled{bytes: bytes} }

func seen(bytes string, want ...string) smuggled { return smuggled{bytes: bytes, want: want} }

func cutCase(bytes string) smuggled { return smuggled{bytes: bytes, cut: true} }

func lengthCases() map[string]smuggled {
	length := func(value string) smuggled { return refusedCase(post("Content-Length: "+value+"\r\n", "12345")) }
	return map[string]smuggled{
		"plus":                length("+5"),
		"minus":               length("-5"),
		"hexadecimal":         length("0x5"),
		"two in one":          length("5 5"),
		"list":                length("5, 5"),
		"list that differs":   length("5, 0"),
		"empty":               length(""),
		"fraction":            length("5.0"),
		"exponent":            length("5e0"),
		"underscore":          length("1_0"),
		"letters":             length("five"),
		"quoted":              length(`"5"`),
		"beyond 64 bits":      length("18446744073709551621"),
		"beyond 63 bits":      length("9223372036854775808"),
		"digits of Unicode":   length("\u0665"),
		"vertical tab":        length("5\v"),
		"NUL":                 length("5\x00"),
		"twice, different":    refusedCase(post("Content-Length: 5\r\nContent-Length: 6\r\n", "12345")),
		"twice, zero first":   refusedCase(post("Content-Length: 0\r\nContent-Length: 5\r\n", "12345")),
		"twice, the same":     seen(post("Content-Length: 5\r\nContent-Length: 5\r\n", "12345"), "POST /p of a 12345"),
		"leading zero":        seen(post("Content-Length: 05\r\n", "12345"), "POST /p of a 12345"),
		"spaces around":       seen(post("Content-Length:   5  \r\n", "12345"), "POST /p of a 12345"),
		"other case":          seen(post("content-LENGTH: 5\r\n", "12345"), "POST /p of a 12345"),
		"named in Connection": seen(post("Connection: Content-Length\r\nContent-Length: 5\r\n", "12345"), "POST /p of a 12345"),
		"of a GET":            seen("GET /g HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345", "GET /g of a 12345"),
		"underscored name":    seen(post("Content_Length: 5\r\n", ""), "POST /p of a"),
	}
}

func codingCases() map[string]smuggled {
	coding := func(fields string) smuggled { return refusedCase(post(fields, ended+hidden)) }
	chunked := func(fields string) smuggled {
		return seen(post(fields, "5\r\n12345\r\n"+ended), "POST /p of a 12345")
	}
	return map[string]smuggled{
		"unknown":                 coding("Transfer-Encoding: xchunked\r\n"),
		"identity":                coding("Transfer-Encoding: identity\r\n"),
		"gzip before":             coding("Transfer-Encoding: gzip, chunked\r\n"),
		"something behind":        coding("Transfer-Encoding: chunked, identity\r\n"),
		"twice in one":            coding("Transfer-Encoding: chunked, chunked\r\n"),
		"twice":                   coding("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
		"twice, second unknown":   coding("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"),
		"twice, first unknown":    coding("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n"),
		"empty":                   coding("Transfer-Encoding:\r\n"),
		"quoted":                  coding("Transfer-Encoding: \"chunked\"\r\n"),
		"parameter":               coding("Transfer-Encoding: chunked;q=1\r\n"),
		"vertical tab before":     coding("Transfer-Encoding: \vchunked\r\n"),
		"NUL behind":              coding("Transfer-Encoding: chunked\x00\r\n"),
		"carriage return before":  coding("Transfer-Encoding: \rchunked\r\n"),
		"space before the colon":  coding("Transfer-Encoding : chunked\r\n"),
		"tab before the colon":    coding("Transfer-Encoding\t: chunked\r\n"),
		"NUL in the name":         coding("Transfer-Encoding\x00: chunked\r\n"),
		"unknown with a length":   refusedCase(post("Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", ended)),
		"behind a lone return":    coding("X: y\rTransfer-Encoding: chunked\r\n"),
		"length first (CL.TE)":    seen(post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", ended), "POST /p of a"),
		"coding first (TE.CL)":    seen(post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "5\r\n12345\r\n"+ended), "POST /p of a 12345"),
		"CL.TE with one behind":   seen(post("Content-Length: 99\r\nTransfer-Encoding: chunked\r\n", ended+hidden), "POST /p of a", "GET /hidden of a"),
		"TE.CL with one inside":   seen(post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "21\r\n"+hidden+"\r\n"+ended), "POST /p of a "+hidden),
		"coding and a bad length": refusedCase(post("Transfer-Encoding: chunked\r\nContent-Length: x\r\n", ended)),
		"other case":              chunked("TRANSFER-encoding: Chunked\r\n"),
		"spaces and tabs around":  chunked("Transfer-Encoding: \t chunked \t\r\n"),
		"folded":                  chunked("Transfer-Encoding:\r\n chunked\r\n"),
		"behind a lone line feed": chunked("X: y\nTransfer-Encoding: chunked\r\n"),
		"named in Connection":     chunked("Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n"),
		"underscored name":        seen(post("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n", ended), "POST /p of a "+ended),
		"one letter more":         seen(post("Transfer-Encodings: chunked\r\nContent-Length: 5\r\n", ended), "POST /p of a "+ended),
		"of a GET":                seen("GET /g HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"+ended, "GET /g of a 12345"),
	}
}

func chunkCases() map[string]smuggled {
	chunks := func(body string) string { return post("Transfer-Encoding: chunked\r\n", body) }
	trailer := func(announced, fields string) string {
		return post("Transfer-Encoding: chunked\r\nTrailer: "+announced+"\r\n", "0\r\n"+fields+"\r\n")
	}
	return map[string]smuggled{
		"size beyond 64 bits":             cutCase(chunks("10000000000000005\r\n12345\r\n" + ended)),
		"size with 0x":                    cutCase(chunks("0x5\r\n12345\r\n" + ended)),
		"size with a sign":                cutCase(chunks("+5\r\n12345\r\n" + ended)),
		"negative size":                   cutCase(chunks("-5\r\n12345\r\n" + ended)),
		"no size":                         cutCase(chunks("\r\n12345\r\n" + ended)),
		"size with a space before":        cutCase(chunks(" 5\r\n12345\r\n" + ended)),
		"letters as size":                 cutCase(chunks("z\r\n12345\r\n" + ended)),
		"size ended by a lone line feed":  cutCase(chunks("5\n12345\r\n" + ended)),
		"extension with a lone line feed": cutCase(chunks("5;a\n12345\r\n" + ended)),
		"data without an end":             cutCase(chunks("5\r\n12345" + ended)),
		"data ended by a lone line feed":  cutCase(chunks("5\r\n12345\n" + ended)),
		"data ended by two letters":       cutCase(chunks("5\r\n12345xx" + ended)),
		"data that is too long":           cutCase(chunks("5\r\n1234567\r\n" + ended)),
		"endless extension":               cutCase(chunks("5;" + strings.Repeat("a", 1<<20) + "\r\n12345\r\n" + ended)),
		"trailer that is no field":        cutCase(chunks("0\r\nnothing\r\n\r\n")),
		"extension":                       seen(chunks("5;a=b\r\n12345\r\n"+ended), "POST /p of a 12345"),
		"quoted extension":                seen(chunks("5;a=\";\"\r\n12345\r\n"+ended), "POST /p of a 12345"),
		"leading zeros":                   seen(chunks("0005\r\n12345\r\n"+ended), "POST /p of a 12345"),
		"upper case":                      seen(chunks("A\r\n1234567890\r\n"+ended), "POST /p of a 1234567890"),
		"one behind":                      seen(chunks("5\r\n12345\r\n"+ended+hidden), "POST /p of a 12345", "GET /hidden of a"),
		"announced trailer":               seen(trailer("X-Sum", "X-Sum: 1\r\n"), "POST /p of a  with trailer map[x-sum:[1]]"),
		"trailer that was not announced":  seen(trailer("X-Sum", "X-Other: 1\r\n"), "POST /p of a"),
		"trailer without Trailer":         seen(chunks("0\r\nX-Sum: 1\r\n\r\n"), "POST /p of a"),
		"trailer with a length":           seen(trailer("X-Sum", "Content-Length: 5\r\n"), "POST /p of a"),
		"trailer with a coding":           seen(trailer("X-Sum", "Transfer-Encoding: chunked\r\n"), "POST /p of a"),
		"trailer with a host":             seen(trailer("Host", "Host: b\r\n"), "POST /p of a"),
		"trailer with credentials":        seen(trailer("Authorization, X-Sum", "Authorization: b\r\n"), "POST /p of a"),
		"trailer with an address":         seen(trailer("X-Forwarded-For", "X-Forwarded-For: 192.0.2.1\r\n"), "POST /p of a"),
		"announced length as trailer":     refusedCase(trailer("Content-Length", "Content-Length: 5\r\n")),
		"announced coding as trailer":     refusedCase(trailer("Transfer-Encoding", "Transfer-Encoding: chunked\r\n")),
	}
}

func lineCases() map[string]smuggled {
	head := func(lines string) string { return "GET /g HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" }
	return map[string]smuggled{
		"NUL in a value":                refusedCase(head("X: a\x00b\r\n")),
		"lone return in a value":        refusedCase(head("X: a\rb\r\n")),
		"escape in a value":             refusedCase(head("X: a\x1bb\r\n")),
		"delete in a value":             refusedCase(head("X: a\x7fb\r\n")),
		"space in a name":               refusedCase(head("X y: a\r\n")),
		"space before the colon":        refusedCase(head("X : a\r\n")),
		"no colon":                      refusedCase(head("nothing\r\n")),
		"no name":                       refusedCase(head(": a\r\n")),
		"slash in a name":               refusedCase(head("X/y: a\r\n")),
		"letter beyond ASCII in a name": refusedCase(head("X\xe9: a\r\n")),
		"space before the first field":  refusedCase("GET /g HTTP/1.1\r\n Host: a\r\n\r\n"),
		"header of 100 KiB":             refusedCase(head("X: " + strings.Repeat("a", 100<<10) + "\r\n")),
		"10,000 fields":                 refusedCase(head(strings.Repeat("X-Field: a\r\n", 10_000))),
		"request line of 100 KiB":       refusedCase("GET /" + strings.Repeat("a", 100<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n"),
		"line feeds alone":              seen("GET /g HTTP/1.1\nHost: a\n\n", "GET /g of a"),
		"folded value":                  seen(head("X: a\r\n  b\r\n"), "GET /g of a"),
		"value beyond ASCII":            seen(head("X: \xe9\r\n"), "GET /g of a"),
		"empty value":                   seen(head("X:\r\n"), "GET /g of a"),
	}
}

func requestLineCases() map[string]smuggled {
	line := func(line string) string { return line + "\r\nHost: a\r\n\r\n" }
	return map[string]smuggled{
		"two spaces":             refusedCase(line("GET  /g HTTP/1.1")),
		"tab":                    refusedCase(line("GET\t/g\tHTTP/1.1")),
		"space in the target":    refusedCase(line("GET /g h HTTP/1.1")),
		"space at the end":       refusedCase(line("GET /g HTTP/1.1 ")),
		"space at the front":     refusedCase(line(" GET /g HTTP/1.1")),
		"empty line at first":    refusedCase("\r\n" + line("GET /g HTTP/1.1")),
		"no method":              refusedCase(line("/g HTTP/1.1")),
		"method with @":          refusedCase(line("G@T /g HTTP/1.1")),
		"method with a bracket":  refusedCase(line("GET[ /g HTTP/1.1")),
		"NUL in the target":      refusedCase(line("GET /g\x00 HTTP/1.1")),
		"lone return in target":  refusedCase(line("GET /g\rh HTTP/1.1")),
		"delete in the target":   refusedCase(line("GET /g\x7f HTTP/1.1")),
		"target without a slash": refusedCase(line("GET g HTTP/1.1")),
		"target of no authority": refusedCase(line("GET http:/g HTTP/1.1")),
		"CONNECT":                refusedCase(line("CONNECT a:80 HTTP/1.1")),
		"CONNECT to a path":      refusedCase(line("CONNECT /g HTTP/1.1")),
		"preface of HTTP/2":      refusedCase(line("PRI * HTTP/1.1")),
		"own method":             seen(line("BREW /g HTTP/1.1"), "BREW /g of a"),
		"method in lower case":   seen(line("get /g HTTP/1.1"), "get /g of a"),
		"fragment":               seen(line("GET /g#h HTTP/1.1"), "GET /g%23h of a"),
	}
}

func hostCases() map[string]smuggled {
	return map[string]smuggled{
		"none":                     refusedCase("GET /g HTTP/1.1\r\n\r\n"),
		"two":                      refusedCase("GET /g HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
		"two that are the same":    refusedCase("GET /g HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
		"with a path":              refusedCase("GET /g HTTP/1.1\r\nHost: a/b\r\n\r\n"),
		"with a user":              refusedCase("GET /g HTTP/1.1\r\nHost: b@a\r\n\r\n"),
		"with a space":             refusedCase("GET /g HTTP/1.1\r\nHost: a b\r\n\r\n"),
		"URL of another host":      seen("GET http://b/g HTTP/1.1\r\nHost: a\r\n\r\n", "GET /g of b"),
		"URL of another port":      seen("GET http://a:81/g HTTP/1.1\r\nHost: a\r\n\r\n", "GET /g of a:81"),
		"named in Connection":      seen("GET /g HTTP/1.1\r\nHost: a\r\nConnection: Host\r\n\r\n", "GET /g of a"),
		"of X-Forwarded-Host":      seen("GET /g HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: b\r\n\r\n", "GET /g of a"),
		"URL of two, both in Host": refusedCase("GET http://b/g HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
	}
}

func sequenceCases() map[string]smuggled {
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n" }
	return map[string]smuggled{
		"two":                          seen(get("/1")+get("/2"), "GET /1 of a", "GET /2 of a"),
		"five":                         seen(get("/1")+get("/2")+get("/3")+get("/4")+get("/5"), "GET /1 of a", "GET /2 of a", "GET /3 of a", "GET /4 of a", "GET /5 of a"),
		"second malformed":             seen(get("/1")+"GET /2 HTTP/1.1\r\nHost : a\r\n\r\n", "GET /1 of a"),
		"second behind a close":        seen("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"+get("/2"), "GET /1 of a"),
		"request in a body":            seen(post("Content-Length: 33\r\n", hidden), "POST /p of a "+hidden),
		"request in the body of GET":   seen("GET /g HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\n"+hidden, "GET /g of a "+hidden),
		"body shorter than its length": seen(post("Content-Length: 5\r\n", "12345")+get("/2"), "POST /p of a 12345", "GET /2 of a"),
		"expectation of another kind":  refusedCase(post("Expect: 200-ok\r\nContent-Length: 5\r\n", "12345")),
		"upgrade to h2c":               seen("GET /g HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", "GET /g of a"),
		"preface of HTTP/2 behind":     seen(get("/1")+"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /1 of a"),
	}
}

func versionCases() map[string]smuggled {
	line := func(version string) string { return "GET /g " + version + "\r\nHost: a\r\n\r\n" }
	return map[string]smuggled{
		"0.9":                               refusedCase("GET /g\r\n\r\n"),
		"0.9 with a version":                refusedCase(line("HTTP/0.9")),
		"2.0":                               refusedCase(line("HTTP/2.0")),
		"3":                                 refusedCase(line("HTTP/3")),
		"lower case":                        refusedCase(line("http/1.1")),
		"two digits":                        refusedCase(line("HTTP/1.10")),
		"leading zero":                      refusedCase(line("HTTP/01.1")),
		"another protocol":                  refusedCase(line("ICAP/1.0")),
		"1.0 with a coding":                 seen("POST /p HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"+ended+hidden, "POST /p of a"),
		"1.0 with both":                     seen("POST /p HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"+ended+hidden, "POST /p of a "+ended),
		"1.0 that is kept, with a coding":   seen("POST /p HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"+ended+hidden, "POST /p of a"),
		"1.0 that is kept, with one behind": seen("GET /g HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"+hidden, "GET /g of a", "GET /hidden of a"),
	}
}
