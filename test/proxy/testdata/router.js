// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Two ways in which Node apps choose a handler for /api/login, on node:http alone:
//   express  as Express documents its default router: the path as sent up to ? or #,
//            not decoded, case ignored, one slash allowed at the end
//   url      as apps do that parse with the URL class and compare the pathname
// It prints the port that it listens on.
'use strict'
const http = require('node:http')

const handlers = {
  express (target) {
    const path = target.startsWith('/') ? target.split(/[?#]/, 1)[0] : new URL(target, 'http://app.example').pathname
    return /^\/api\/login\/?$/i.test(path)
  },
  url (target) {
    try {
      return new URL(target, 'http://app.example').pathname === '/api/login'
    } catch {
      return false
    }
  }
}
const reaches = handlers[process.argv[2]]
const server = http.createServer((request, answer) => {
  const reached = reaches(request.url)
  answer.writeHead(reached ? 200 : 404)
  answer.end(reached ? 'reached' : 'not here')
})
server.listen(0, '127.0.0.1', () => console.log('port', server.address().port))
