// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

var update = flag.Bool("update", false, "write the tables of docs/paths.md anew")

// spellings are ways to write /api/login, or to try to. Which of them reach the
// handler is what the servers tell.
var spellings = []string{
	"/api/login", "/API/LOGIN", "/Api/Login", "/api/login/", "/api/login//", "//api/login", "/api//login", "///api///login",
	"/./api/login", "/api/./login", "/api/login/.", "/api/x/../login", "/x/../api/login", "/../api/login", "/api/login/x/..", "/api/login/..",
	"/%61pi/login", "/api/%6Cogin", "/api/%6cogin", "/%61%70%69/%6c%6f%67%69%6e", "/api%2Flogin", "/api%2flogin", "/%2Fapi/login", "/api/x%2F..%2Flogin",
	"/%2e/api/login", "/api/%2e/login", "/x/%2e%2e/api/login", "/api/x/%2E%2E/login", "/api/x/.%2e/login", "/%2e%2e/api/login",
	`/api\login`, `\api\login`, "/api%5Clogin", "/api%5clogin", `/api/x\..\login`, `/\api/login`,
	"/api;x=1/login", "/api/login;x=1", "/api/login;", "/;/api/login", "/api/..;/api/login",
	"/api/login?", "/api/login?x=1", "/api/login??", "/api/login#x", "/api/login%3F", "/api/login%23", "/api/login%20", "/api/login%00", "/api/login%2F",
	"http://app.example/api/login", "HTTP://other.example/api/login", "//other.example/api/login", `//other.example\api\login`, "///other.example/api/login",
	"/api/login%252F", "/%2561pi/login", "/api/login.", "/api/login.json", "/api/lo%67in/", "/api/log\u0131n", "/api/logi%C2%ADn",
}

// recorded are spellings that reach the handler of frameworks that are no programs
// here, each with where that is written.
var recorded = []struct{ framework, spelling, from, source string }{
	{"Spring MVC", "/api/login", "PathPattern", springPatterns},
	{"Spring MVC", "/%61pi/login", "PathPattern: each segment is compared decoded", springSegment},
	{"Spring MVC", "/api;x=1/login", "PathPattern: each segment is compared without its parameters", springSegment},
	{"Spring MVC", "/api/login;x=1", "PathPattern: each segment is compared without its parameters", springSegment},
	{"Spring MVC", "/API/LOGIN", "PathPatternParser.setCaseSensitive(false)", springParser},
	{"Spring MVC", "/api/login/", "before 6.0 a trailing slash matched by default; an option until 7.0", "https://github.com/spring-projects/spring-framework/issues/28552"},
	{"Spring MVC", "//api/login", "UrlPathHelper, with AntPathMatcher: // becomes /", springHelper},
	{"Spring MVC", "/api//login", "UrlPathHelper, with AntPathMatcher: // becomes /", springHelper},
	{"Spring MVC", "/api/x/../login", "UrlPathHelper before 5.3 took Tomcat's servletPath, in which dot segments are resolved", springServletPath},
	{"Spring MVC", "/api/..;/api/login", "the same: Tomcat cuts parameters off before it resolves dot segments", tomcatAdapter},
	{"Spring MVC", "/api%2Flogin", "UrlPathHelper decodes, where Tomcat has encodedSolidusHandling other than reject", tomcatSolidus},
	{"Spring MVC", "/api%5Clogin", "as dot segments, where Tomcat has allowBackslash: the decoded backslash becomes a slash", tomcatBackslash},
	{"ASP.NET Core", "/api/login", "routing", aspRouting},
	{"ASP.NET Core", "/API/Login", "routing compares texts without case", aspRouting},
	{"ASP.NET Core", "/api/login/", "routing ignores a trailing slash, by design", "https://github.com/dotnet/aspnetcore/issues/2667"},
	{"ASP.NET Core", "/%61pi/login", "Kestrel decodes all but %2F", "https://github.com/dotnet/aspnetcore/issues/30655"},
	{"ASP.NET Core", "/api/x/../login", "Kestrel removes dot segments", kestrelDots},
	{"ASP.NET Core", "/x/%2e%2e/api/login", "Kestrel removes dot segments after it decoded", kestrelDots},
	{"S3-like", "/api/login", "a key is the path after the bucket", s3Keys},
	{"S3-like", "/api/%6Cogin", "a key is decoded", s3Keys},
	{"S3-like", "/api%2Flogin", "S3 decodes an escaped slash in a key; MinIO refuses one at its beginning", "https://github.com/minio/minio/issues/8902"},
	{"S3-like", "/api//login", "MinIO takes several slashes for one; with S3 this is another key", "https://github.com/minio/minio/issues/9567"},
}

// Sources of more than one row.
const (
	springPatterns    = "https://docs.spring.io/spring-framework/reference/web/webmvc/mvc-controller/ann-requestmapping.html"
	springSegment     = "https://docs.spring.io/spring-framework/docs/current/javadoc-api/org/springframework/http/server/PathContainer.html"
	springParser      = "https://docs.spring.io/spring-framework/docs/current/javadoc-api/org/springframework/web/util/pattern/PathPatternParser.html"
	springHelper      = "https://github.com/spring-projects/spring-framework/issues/26750"
	springServletPath = "https://github.com/spring-projects/spring-framework/issues/25100"
	tomcatAdapter     = "https://github.com/apache/tomcat/blob/9.0.x/java/org/apache/catalina/connector/CoyoteAdapter.java"
	tomcatSolidus     = "https://tomcat.apache.org/tomcat-9.0-doc/config/http.html"
	tomcatBackslash   = "https://www.mail-archive.com/dev@tomcat.apache.org/msg181201.html"
	aspRouting        = "https://learn.microsoft.com/en-us/aspnet/core/fundamentals/routing"
	kestrelDots       = "https://github.com/aspnet/KestrelHttpServer/pull/573"
	s3Keys            = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html"
)

const loginPolicy = `response: {headers: [XRateLimit]}
rules: [{name: login, matches: [{path: {type: Exact, value: /api/login}}], limits: [{name: hour, requests: 100000, window: 1h}]}]`

// outcome is what became of a spelling.
type outcome struct{ reached, met, refused bool }

// TestSpellings sends every spelling to every server directly and through a rule for
// /api/login: one that reaches the handler must meet the rule.
func TestSpellings(t *testing.T) {
	t.Parallel()
	table := map[string][]outcome{}
	for _, server := range pathServers {
		address := server.start(t)
		proxy := proxyrun.StartPenstock(t, "http://"+address, loginPolicy)
		for _, spelling := range spellings {
			t.Run(server.name+" "+spelling, func(t *testing.T) {
				_, _, body := ask(t, address, spelling)
				got := through(t, proxy, spelling)
				direct := body == reached
				if got.reached && (!direct || !got.met) || direct && !got.met && !escaped(spelling) {
					t.Errorf("%s reaches the handler directly: %v; through the proxy: %+v", spelling, direct, got)
				}
				got.reached = got.reached || direct && got.met
				table[spelling] = append(table[spelling], got)
			})
		}
	}
	proxy := proxyrun.StartPenstock(t, "http://"+startServeMux(t), loginPolicy)
	for _, r := range recorded {
		t.Run(r.framework+" "+r.spelling+" by "+r.from, func(t *testing.T) {
			if got := through(t, proxy, r.spelling); !got.met {
				t.Errorf("%s reaches the handler of %s and does not meet the rule: %+v", r.spelling, r.framework, got)
			}
		})
	}
	checkTables(t, table)
}

// escaped says that a target is not forwarded as sent: # has no place in one, and
// arrives as %23.
func escaped(spelling string) bool { return strings.Contains(spelling, "#") }

// through sends a spelling through the rule. What is refused as malformed counts as
// met: it reaches no handler.
func through(t *testing.T, proxy *proxyrun.Proxy, spelling string) outcome {
	t.Helper()
	status, header, body := ask(t, proxy.Address, spelling)
	counted := header.Get("X-RateLimit-Limit") != ""
	refused := status == http.StatusBadRequest && !counted && body != reached
	return outcome{reached: body == reached, met: counted || refused, refused: refused}
}

const tablesBegin, tablesEnd = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"

// checkTables holds docs/paths.md to what was found.
func checkTables(t *testing.T, table map[string][]outcome) {
	t.Helper()
	const file = "../../docs/paths.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tablesBegin)
	old, after, ended := strings.Cut(rest, tablesEnd)
	if !found || !ended {
		t.Fatalf("%s lacks the lines %q and %q", file, tablesBegin, tablesEnd)
	}
	tables := markdown(table)
	if *update {
		if err := os.WriteFile(file, []byte(before+tablesBegin+tables+tablesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, tables); diff != "" {
		t.Errorf("%s is not what was found; write it with -update (-file +found):\n%s", file, diff)
	}
}

func markdown(table map[string][]outcome) string {
	var b strings.Builder
	b.WriteString("| spelling | the rule |")
	for _, server := range pathServers {
		b.WriteString(" " + server.name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(pathServers)) + "\n")
	for _, spelling := range spellings {
		rule := "not met"
		switch outcomes := table[spelling]; {
		case outcomes[0].refused:
			rule = "400"
		case outcomes[0].met:
			rule = "met"
		}
		fmt.Fprintf(&b, "| `` %s `` | %s |", spelling, rule)
		for _, o := range table[spelling] {
			b.WriteString(map[bool]string{true: " reached |", false: " |"}[o.reached])
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| framework | spelling | reaches the handler by | source |\n|---|---|---|---|\n")
	for _, r := range recorded {
		fmt.Fprintf(&b, "| %s | `` %s `` | %s | [%s](%s) |\n", r.framework, r.spelling, r.from, siteOf(r.source), r.source)
	}
	return b.String()
}

// siteOf is the host of an address.
func siteOf(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	return host
}
