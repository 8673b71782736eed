/**
 * A piece of JavaScript. For strings and templates, `text` is their content without escapes; for a template with `${…}`,
 * everything between the backticks.
 */
export interface Token {
  kind: 'word' | 'string' | 'punctuator'
  text: string
  /** Position in the code. */
  at: number
}

const SPACE = /[\s\u2028\u2029]+/y
/** Browsers allow a script in a page to be wrapped in an HTML comment, so its opening mark starts a one-line comment. */
const COMMENT = /\/\/|<!--|\/\*/y
const WORD = /[\w$\u0080-\uffff]+/y
/** Words after which a slash begins a regular expression. */
const BEFORE_REGEX = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'else', 'do'])

/**
 * Splits JavaScript into tokens, so that the content of comments, strings and regular expressions is not taken for code.
 * Regular expressions are left out. Never fails, and takes time in proportion to the length of any code.
 */
export function* tokensOf(code: string): Generator<Token> {
  let at = 0
  let previous: Token | null = null
  /** No regular expression ends before this position: searching from every slash would take quadratic time. */
  let noRegexBefore = 0
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const text = pattern.exec(code)?.[0] ?? null
    if (text !== null) at += text.length
    return text
  }
  while (at < code.length) {
    if (take(SPACE) !== null) continue
    const comment = take(COMMENT)
    if (comment !== null) {
      at = comment === '/*' ? endOf(code, '*/', at) : lineEnd(code, at)
      continue
    }
    const start = at
    const char = code[at] ?? ''
    let token: Token = { kind: 'punctuator', text: char, at }
    if (char === '"' || char === "'") {
      at = stringEnd(code, at)
      token = { kind: 'string', text: unescaped(code.slice(start + 1, code[at - 1] === char ? at - 1 : at)), at: start }
    } else if (char === '`') {
      at = templateEnd(code, at)
      token = { kind: 'string', text: unescaped(code.slice(start + 1, at - 1)), at: start }
    } else if (char === '/' && start >= noRegexBefore && mayBeginRegex(previous)) {
      const end = regexEnd(code, at)
      if (end === null) noRegexBefore = lineEnd(code, at)
      else {
        at = end
        previous = { kind: 'word', text: '', at: start }
        continue
      }
      at++
    } else {
      const word = take(WORD)
      if (word === null) at++
      else token = { kind: 'word', text: word, at: start }
    }
    yield token
    previous = token
  }
}

function mayBeginRegex(previous: Token | null): boolean {
  if (previous === null) return true
  if (previous.kind === 'punctuator') return !')]}'.includes(previous.text)
  return previous.kind === 'word' && BEFORE_REGEX.has(previous.text)
}

function lineEnd(code: string, from: number): number {
  let at = from
  while (at < code.length && code[at] !== '\n' && code[at] !== '\r') at++
  return at
}

/** Returns the position after the next `mark`, or the end of the code. */
function endOf(code: string, mark: string, from: number): number {
  const found = code.indexOf(mark, from)
  return found === -1 ? code.length : found + mark.length
}

/** Returns the position after the closing quote, or the end of the line: strings cannot continue there. */
function stringEnd(code: string, start: number): number {
  const quote = code[start]
  let at = start + 1
  while (at < code.length && code[at] !== '\n' && code[at] !== '\r') {
    if (code[at] === quote) return at + 1
    at += code[at] === '\\' ? 2 : 1
  }
  return Math.min(at, code.length)
}

/** Returns the position after the flags; null when the line has no end of it, so that it is no regular expression. */
function regexEnd(code: string, start: number): number | null {
  let inClass = false
  for (let at = start + 1; at < code.length && code[at] !== '\n' && code[at] !== '\r'; at++) {
    const char = code[at]
    if (char === '\\') at++
    else if (char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === '/' && !inClass) {
      let end = at + 1
      while (/[a-z]/.test(code[end] ?? '')) end++
      return end
    }
  }
  return null
}

/** Returns the position after the closing backtick, or the end of the code. `${…}` may contain braces, strings and templates. */
function templateEnd(code: string, start: number): number {
  /** For each open template, how many braces are open in its `${…}`; 0 = in its text. */
  const open = [0]
  let at = start + 1
  while (at < code.length && open.length > 0) {
    const char = code[at]
    const braces = open.at(-1) ?? 0
    if (char === '\\') at++
    else if (braces === 0 && char === '`') open.pop()
    else if (braces === 0 && char === '$' && code[at + 1] === '{') {
      open[open.length - 1] = 1
      at++
    } else if (braces > 0 && char === '`') open.push(0)
    else if (braces > 0 && char === '{') open[open.length - 1] = braces + 1
    else if (braces > 0 && char === '}') open[open.length - 1] = braces - 1
    at++
  }
  return Math.min(at, code.length)
}

const ESCAPE = /\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\}|\r?\n|([\s\S]))/gi
const CONTROL: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(ESCAPE, (_, byte?: string, unit?: string, point?: string, char?: string) => {
        const code = byte ?? unit ?? point
        if (code === undefined) return char === undefined ? '' : (CONTROL[char] ?? char)
        const value = Number.parseInt(code, 16)
        return value > 0x10ffff ? '' : String.fromCodePoint(value)
      })
    : text
