/**
 * A piece of JavaScript. Of strings and templates `text` is what they say, their escapes resolved; of a template with
 * `${…}` everything between its ticks.
 */
export interface Token {
  kind: 'word' | 'string' | 'punctuator'
  text: string
  /** Where it starts in the code. */
  at: number
}

const SPACE = /[\s\u2028\u2029]+/y
/** As browsers do, a script in a page may hide in an HTML comment, whose marks begin comments of one line. */
const COMMENT = /\/\/|<!--|\/\*/y
const WORD = /[\w$\u0080-\uffff]+/y
/** Words after which a slash begins a regular expression. */
const BEFORE_REGEX = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'else', 'do'])

/**
 * Splits JavaScript into pieces, so that what is in a comment, a string or a regular expression is not taken for code.
 * Never fails, whatever the code is, and takes time in proportion to its length. Regular expressions are left out.
 */
export function* tokensOf(code: string): Generator<Token> {
  let at = 0
  let previous: Token | null = null
  /** Up to here it is known that no regular expression ends: looking again from every slash would never end. */
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

/** After the next `mark`, or the end of the code. */
function endOf(code: string, mark: string, from: number): number {
  const found = code.indexOf(mark, from)
  return found === -1 ? code.length : found + mark.length
}

/** After the closing quote, or the end of the line: a string that does not end there is a syntax error. */
function stringEnd(code: string, start: number): number {
  const quote = code[start]
  let at = start + 1
  while (at < code.length && code[at] !== '\n' && code[at] !== '\r') {
    if (code[at] === quote) return at + 1
    at += code[at] === '\\' ? 2 : 1
  }
  return Math.min(at, code.length)
}

/** After the flags; null when there is no end on the line, and so no regular expression. */
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

/** After the closing tick, or the end of the code. What is in `${…}` may have braces, strings and templates of its own. */
function templateEnd(code: string, start: number): number {
  /** For each template that is open, how many braces are open in its `${…}`; 0 = in its text. */
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
