import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { asError } from '../../lib/index.ts'
import { ConfigProblems, type Place, type Problem } from './problems.ts'
import { type Path, withVariables } from './variables.ts'

const pathText = (path: Path): string => path.join('/')

/** A YAML file: its value with environment variables filled in, and the place of each part. */
export class YamlFile {
  readonly name: string
  readonly value: unknown
  readonly #document: Document
  readonly #lines: LineCounter
  /** The text in the file wherever a variable was filled in, by `pathText`. */
  readonly #raw: ReadonlyMap<string, string>

  /**
   * @param name for messages
   * @throws ConfigProblems for text that is not YAML, and for variables that are not set
   */
  constructor(name: string, text: string, environment: Readonly<Record<string, string | undefined>>) {
    this.name = name
    this.#lines = new LineCounter()
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, merge: true })
    const deep = this.#document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
    // The parser names every bracket from there on.
    if (deep !== undefined) {
      throw new ConfigProblems([{ place: this.#placeAt(deep.pos[0]), message: 'the file is nested too deeply' }])
    }
    const faults: Problem[] = this.#document.errors.map(({ pos, code, message }) => ({
      place: this.#placeAt(pos[0]),
      message: code === 'MULTIPLE_DOCS' ? 'a second document begins here: make it a file of its own' : message,
    }))
    faults.push(...this.#circles())
    if (faults.length > 0) throw new ConfigProblems(faults)
    const problems: Problem[] = []
    const raw = new Map<string, string>()
    this.value = withVariables(this.#plainValue(), environment, {
      replaced: (path, written) => raw.set(pathText(path), written),
      failed: (path, message) => problems.push({ place: this.placeOf(path), message }),
    })
    this.#raw = raw
    if (problems.length > 0) throw new ConfigProblems(problems)
  }

  /** Aliases inside the node that they repeat, which could be expanded forever. */
  #circles(): Problem[] {
    const document = this.#document
    const found: Problem[] = []
    visit(document, {
      Alias: (_key, alias, path) => {
        const around = path.filter((node) => (isMap(node) || isSeq(node)) && node.anchor === alias.source)
        // `resolve` searches the whole file, so call it only when a node around the alias has its anchor.
        if (around.length === 0 || !around.some((node) => node === alias.resolve(document))) return
        found.push({
          place: this.#placeAt(alias.range?.[0] ?? 0),
          message: `*${alias.source} is inside what it repeats`,
        })
      },
    })
    return found
  }

  #plainValue(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 1_000 })
    } catch (thrown) {
      throw new ConfigProblems([{ place: this.#placeAt(0), message: asError(thrown).message }])
    }
  }

  /** The place of the value; when it is not in the file, that of the nearest parent. */
  placeOf(path: Path): Place {
    for (let length = path.length; length > 0; length--) {
      const at = this.#offsetOf(path.slice(0, length))
      if (at !== null) return this.#placeAt(at)
    }
    return this.#placeAt(this.#document.contents?.range?.[0] ?? 0)
  }

  /** The text in the file, when environment variables were filled in; null when the file holds the value itself. */
  rawTextOf(path: Path): string | null {
    return this.#raw.get(pathText(path)) ?? null
  }

  /** The offset of a field's name, or of the beginning of a list's entry. */
  #offsetOf(path: Path): number | null {
    const last = path.at(-1)
    const parent = path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true)
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(last))
      return isNode(pair?.key) ? (pair.key.range?.[0] ?? null) : null
    }
    const node = this.#document.getIn(path, true)
    return isNode(node) ? (node.range?.[0] ?? null) : null
  }

  #placeAt(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset)
    return { file: this.name, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
}
