import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar, type YAMLMap } from 'yaml'
import type { Finding, Scenario, Section, TestSuite } from '../types.ts'

/** ___TESTS___: YAML with `scenarios`, a list of `{ name, code }`, and perhaps `setup`. Nothing else is known. */
export function readTests(section: Section, findings: Finding[]): TestSuite {
  const reader = new SuiteReader(section, findings)
  return reader.read()
}

class SuiteReader {
  readonly #section: Section
  readonly #findings: Finding[]
  readonly #lines = new LineCounter()

  constructor(section: Section, findings: Finding[]) {
    this.#section = section
    this.#findings = findings
  }

  read(): TestSuite {
    const document = parseDocument(this.#section.text, { lineCounter: this.#lines, prettyErrors: false })
    for (const error of document.errors) this.#complain(error.pos[0], `___TESTS___ is not YAML: ${error.message}`)
    if (document.errors.length > 0) return { scenarios: [], setup: null }
    const top = document.contents
    if (!isMap(top)) {
      this.#complain(0, '___TESTS___ needs "scenarios:"; "scenarios: []" means none.')
      return { scenarios: [], setup: null }
    }
    this.#onlyKeys(top, ['scenarios', 'setup'])
    return { scenarios: this.#scenarios(top), setup: this.#text(top, 'setup') }
  }

  #scenarios(top: YAMLMap): Scenario[] {
    const list = top.get('scenarios', true) as Node | undefined
    if (!isSeq(list)) {
      this.#complain((list ?? top).range?.[0] ?? 0, 'scenarios must be a list.')
      return []
    }
    return list.items.flatMap((item) => {
      const scenario = item as Node
      if (!isMap(scenario)) {
        this.#complain(scenario.range?.[0] ?? 0, 'A scenario needs a name and code.')
        return []
      }
      this.#onlyKeys(scenario, ['name', 'code'])
      const name = this.#text(scenario, 'name')
      const code = this.#text(scenario, 'code')
      if (name === null || code === null) {
        this.#complain(scenario.range?.[0] ?? 0, 'A scenario needs a name and code, both text.')
        return []
      }
      return [{ name: name.text, line: name.line, code }]
    })
  }

  /** The text under a key with the line on which it starts, or null if there is no text. */
  #text(map: YAMLMap, key: string): Section | null {
    const node = map.get(key, true) as Node | undefined
    if (!isScalar(node) || typeof node.value !== 'string') return null
    // The text of a block begins on the line after its `|-`.
    const block = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED ? 1 : 0
    return { line: this.#lineAt(node.range?.[0] ?? 0) + block, text: node.value }
  }

  #onlyKeys(map: YAMLMap, known: readonly string[]): void {
    for (const { key } of map.items) {
      if (isScalar(key) && known.includes(String(key.value))) continue
      const node = key as Node | null
      this.#complain(node?.range?.[0] ?? 0, `Unknown key; known here are ${known.join(' and ')}.`)
    }
  }

  #complain(offset: number, message: string): void {
    this.#findings.push({ line: this.#lineAt(offset), rule: 'tests', message })
  }

  readonly #lineAt = (offset: number): number => this.#section.line + this.#lines.linePos(offset).line - 1
}
