import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectFinding } from './expect-finding.ts'
import { ANY_URL, DEBUG_LOG, type FixtureParts, findingsOf, fixture, permission } from './fixture.ts'

const SEND = "const send = require('sendHttpRequest');\nsend('https://a.test/');\ndata.gtmOnSuccess();"
const ALL_DATA = "const all = require('getAllEventData');\nall();\ndata.gtmOnSuccess();"
const specificData = permission('read_event_data', { eventDataAccess: 'specific', keyPatterns: ['event_name'] })

const PERMISSIONS: readonly { what: string; parts: FixtureParts; at: string; says: RegExp; rule?: string }[] = [
  { what: 'a missing permission', parts: { code: SEND }, at: 'const send', says: /needs the permission send_http/ },
  {
    what: 'an unused permission',
    parts: { permissions: [ANY_URL] },
    at: '"publicId"',
    says: /no required API needs it/,
    rule: 'style',
  },
  {
    what: 'a permission of another kind of template',
    parts: { permissions: [permission('access_globals')] },
    at: '"publicId"',
    says: /no API of a server container/,
  },
  {
    what: 'a permission twice',
    parts: { code: SEND, permissions: [ANY_URL, permission('send_http', { allowedUrls: 'any', b: 'c' })] },
    at: '"publicId": "send_http",\n        "versionId": "1"\n      },\n      "param": [\n        {\n          "key": "allowedUrls",\n          "value": {\n            "type": 1,\n            "string": "any"\n          }\n        },',
    says: /declared twice/,
  },
  {
    what: 'a URL permission that says nothing',
    parts: { code: SEND, permissions: [permission('send_http')] },
    at: '"publicId"',
    says: /allowedUrls must be/,
  },
  {
    what: 'a specific permission without a list',
    parts: { code: SEND, permissions: [permission('send_http', { allowedUrls: 'specific' })] },
    at: '"publicId"',
    says: /list of texts in urls allows nothing/,
    rule: 'style',
  },
  {
    what: 'a list of addresses that is none',
    parts: { code: SEND, permissions: [permission('send_http', { allowedUrls: 'specific', urls: 'https://a.test/' })] },
    at: '"publicId"',
    says: /urls must be a list of texts/,
  },
  {
    what: 'a parameter that the permission does not have',
    parts: { code: SEND, permissions: [permission('send_http', { allowedUrls: 'any', url: 'https://a.test/' })] },
    at: '"publicId"',
    says: /send_http has no parameter url/,
  },
  {
    what: 'an API of clients without its permission',
    parts: { code: "require('setResponseStatus')(200);\ndata.gtmOnSuccess();" },
    at: "require('setResponseStatus')",
    says: /needs the permission access_response/,
  },
  {
    what: 'a key in quotes that is not among the patterns',
    parts: {
      code: "const read = require('getEventData');\nread('user_data.email');\ndata.gtmOnSuccess();",
      permissions: [specificData],
    },
    at: "read('user_data",
    says: /read_event_data does not allow getEventData\("user_data.email"\)/,
  },
  {
    what: 'a cookie in quotes that is not among the names',
    parts: {
      code: "require('getCookieValues')('_ga');\ndata.gtmOnSuccess();",
      permissions: [permission('get_cookies', { cookieAccess: 'specific', cookieNames: ['_fbp'] })],
    },
    at: "require('getCookieValues')",
    says: /get_cookies does not allow getCookieValues\("_ga"\)/,
  },
  {
    what: 'a logging permission of an unknown kind',
    parts: {
      code: "require('logToConsole')(1);\ndata.gtmOnSuccess();",
      permissions: [permission('logging', { environments: 'some' })],
    },
    at: '"publicId"',
    says: /environments/,
  },
  {
    what: 'messages of types that are not named',
    parts: {
      code: "require('sendMessage')('a', {});\ndata.gtmOnSuccess();",
      permissions: [permission('use_message', { allowedActions: 'specific', messageTypes: ['a'] })],
    },
    at: '"publicId"',
    says: /list of maps with type and action/,
  },
  {
    what: 'a parameter that no one takes',
    parts: {
      code: "require('addEventCallback')(() => {});\ndata.gtmOnSuccess();",
      permissions: [permission('read_event_metadata', { a: 'b' })],
    },
    at: '"publicId"',
    says: /takes no parameters/,
  },
  {
    what: 'getAllEventData with narrow access',
    parts: { code: ALL_DATA, permissions: [specificData] },
    at: '"publicId"',
    says: /access to any key/,
  },
]

for (const { what, parts, at, says, rule = 'permissions' } of PERMISSIONS) {
  test(`The lint finds ${what}`, () => expectFinding(parts, at, rule, says))
}

test('Logging needs its permission and is content with it', () => {
  const code = "require('logToConsole')('a');\ndata.gtmOnSuccess();"
  assert.deepEqual(findingsOf(fixture({ code, permissions: [DEBUG_LOG] })), [])
})

test('A key in quotes may be a pattern, lie below one, or be read where any key may', () => {
  const code =
    "const read = require('getEventData');\nread('event_name');\nread('user_data.address.0.city');\ndata.gtmOnSuccess();"
  for (const params of [
    { eventDataAccess: 'specific', keyPatterns: ['event_name', 'user_data.*'] },
    { eventDataAccess: 'specific', keyPatterns: ['event_name', 'user_data'] },
    { eventDataAccess: 'any' },
  ]) {
    assert.deepEqual(findingsOf(fixture({ code, permissions: [permission('read_event_data', params)] })), [])
  }
})
