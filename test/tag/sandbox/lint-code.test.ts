import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectFinding } from './expect-finding.ts'
import { ANY_EVENT_DATA, findingsOf, fixture } from './fixture.ts'

test('A sound template has no findings', () => {
  const code = `const getEventData = require('getEventData');
function flag(value) { return value !== undefined; }
const seen = {};
for (const key of ['a', 'b']) { seen[key] = flag(getEventData(key)); }
for (let key in seen) { if (seen.hasOwnProperty(key) && typeof key === 'string') continue; }
const list = [1, 2].map((item) => item + 1).concat(data.rows || []);
let at = 0;
while (at < list.length) at++;
switch (list[0]) { case 1: { let inner = at; at = inner; break; } default: at = arguments.length ? 0 : 1; }
if (at > 5) return;
var late = function named(depth) { return depth > 0 ? named(depth - 1) : later; };
const later = late;
data.gtmOnSuccess();`.replace('arguments.length ? 0 : 1', '0')
  const parameters = [{ type: 'SIMPLE_TABLE', name: 'rows', simpleTableColumns: [{ name: 'a', type: 'TEXT' }] }]
  assert.deepEqual(findingsOf(fixture({ code, parameters, permissions: [ANY_EVENT_DATA] })), [])
})

const CODE: readonly { code: string; says: RegExp; rule?: string }[] = [
  { code: 'const a = /b/;', says: /Regex literals/ },
  { code: 'try { data.a(); } catch (e) { data.b(); }', says: /"try"/ },
  { code: "throw 'a';", says: /"throw"/ },
  { code: 'const a = new data.b();', says: /"new"/ },
  { code: 'const a = this;', says: /"this"/ },
  { code: 'class A {}', says: /Classes/ },
  { code: 'const a = `b`;', says: /Template literals/ },
  { code: 'const a = [...data.b];', says: /Spread/ },
  { code: 'const a = { ...data.b };', says: /Spread/ },
  { code: 'const a = (...b) => b;', says: /Rest parameters/ },
  { code: 'const { a } = data;', says: /Destructuring/ },
  { code: 'const [a] = data.b;', says: /Destructuring/ },
  { code: 'const a = ({ b }) => b;', says: /Destructuring/ },
  { code: 'const a = (b = 1) => b;', says: /Default parameters/ },
  { code: "const a = { ['b']: 1 };", says: /Computed keys/ },
  { code: 'const a = { b() {} };', says: /short form/ },
  { code: 'const b = 1; const a = { b };', says: /short form/ },
  { code: 'const a = { get b() { return 1; } };', says: /Getters/ },
  { code: 'const a = data.b?.c;', says: /Optional chaining/ },
  { code: 'const a = data.b ?? 1;', says: /"\?\?"/ },
  { code: 'let a = 1; a ??= 2;', says: /"\?\?="/ },
  { code: 'const a = 2 ** 3;', says: /"\*\*"/ },
  { code: 'const a = async () => 1;', says: /async/ },
  { code: 'function* a() {}', says: /Generators/ },
  { code: 'delete data.b;', says: /"delete"/ },
  { code: 'const a = data instanceof data.b;', says: /"instanceof"/ },
  { code: 'const a = 10n;', says: /BigInt/ },
  { code: 'const a = 1_000;', says: /newer than/ },
  { code: 'data.b(1,);', says: /newer than/ },
  { code: 'label: while (data.b) break label;', says: /LabeledStatement/ },
  { code: 'debugger;', says: /DebuggerStatement/ },
  { code: 'const a = ;', says: /Syntax error/ },
  { code: 'const a = 1; const a = 2;', says: /Syntax error/ },
]

for (const { code, says } of CODE) {
  test(`The lint refuses the syntax of ${code}`, () =>
    expectFinding({ code: `\n\n${code}\ndata.gtmOnSuccess();` }, code, 'syntax', says))
}

const NAMES: readonly { code: string; rule: string; says: RegExp }[] = [
  { code: 'const a = Date;', rule: 'globals', says: /"Date" is not declared/ },
  { code: 'setTimeout(data.gtmOnSuccess, 1);', rule: 'globals', says: /"setTimeout"/ },
  { code: 'a = 1;', rule: 'globals', says: /"a"/ },
  { code: '{ let a = 1; } a();', rule: 'globals', says: /"a"/ },
  { code: 'const f = () => arguments;', rule: 'globals', says: /"arguments"/ },
  { code: 'const a = JSON.stringify(1);', rule: 'globals', says: /"JSON"/ },
  { code: "const a = require('fetch'); a();", rule: 'require', says: /no API "fetch"/ },
  { code: "const a = require('toString'); a();", rule: 'require', says: /no API "toString"/ },
  { code: "const a = require('setCookie'); a();", rule: 'permissions', says: /needs the permission set_cookies/ },
  { code: "const a = require('hmacSha256'); a();", rule: 'runner', says: /does not play hmacSha256/ },
  { code: "const a = 'b'.startsWith('b');", rule: 'style', says: /in published templates/ },
  { code: "const name = 'getType'; const a = require(name); a();", rule: 'require', says: /one text/ },
  { code: 'const a = require; a();', rule: 'require', says: /one text/ },
  { code: "const getType = require('getType');", rule: 'unused', says: /never used/ },
  { code: 'const a = data.b.constructor;', rule: 'members', says: /"constructor"/ },
  { code: "const a = data['__proto__'];", rule: 'members', says: /"__proto__"/ },
  { code: 'const a = { __proto__: data };', rule: 'members', says: /"__proto__"/ },
  { code: 'const a = [1].includes(1);', rule: 'methods', says: /"includes"/ },
  { code: "const a = 'b'.endsWith('b');", rule: 'methods', says: /"endsWith"/ },
  { code: 'data.gtmOnSuccess.call(data);', rule: 'methods', says: /"call"/ },
]

for (const { code, rule, says } of NAMES) {
  test(`The lint refuses the names of ${code}`, () =>
    expectFinding(
      { code: `\n${code}\ndata.gtmOnSuccess(data.b);`, parameters: [{ type: 'TEXT', name: 'b' }] },
      code,
      rule,
      says,
    ))
}

test('Methods of required APIs are not taken for methods of values', () => {
  const code = `const Object = require('Object');
const list = Object.entries({ a: 1 }).concat(require('Object').values({}));
data.gtmOnSuccess(list);`
  assert.deepEqual(findingsOf(fixture({ code })), [])
})

test('Outcomes may be handed on instead of called', () => {
  const code = 'const end = (one, other) => one || other;\nend(data.gtmOnSuccess, data.gtmOnFailure)();'
  assert.deepEqual(findingsOf(fixture({ code })), [])
})

test('Code that signals no outcome is refused, as the editor refuses it', () =>
  expectFinding({ code: 'const a = 1;' }, '\n\nconst a', 'outcome', /gtmOnSuccess or data.gtmOnFailure/))
