import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { asError } from '../../lib/index.ts'
import { ConfigProblems, type Place, type Problem } from './problems.ts'
import { type Path, withVariables } from './variables.ts'

const pathText = (path: Path): string => path.join('/')

/** A YAML file: what it says, with the variables of the environment filled in, and where it says it. */
export class YamlFile {
  readonly name: string
  readonly value: unknown
  readonly #document: Document
  readonly #lines: LineCounter
  /** By `pathText`: what the file has where a variable was filled in. */
  readonly #raw: ReadonlyMap<string, string>

  /**
   * @param name for messages
   * @throws ConfigProblems for what is no YAML, and for variables that are not set
   */
  constructor(name: string, text: string, environment: Readonly<Record<string, string | undefined>>) {
    this.name = name
    this.#lines = new LineCounter()
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, merge: true })
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

  /** Aliases of what they stand in: it would never end. */
  #circles(): Problem[] {
    const document = this.#document
    const found: Problem[] = []
    visit(document, {
      Alias: (_key, alias, path) => {
        const around = path.filter((node) => (isMap(node) || isSeq(node)) && node.anchor === alias.source)
        // What it stands for is looked for in the whole file: only where it could be around it.
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

  /** Where the value stands; of one that is not in the file, what it would stand in. */
  placeOf(path: Path): Place {
    for (let length = path.length; length > 0; length--) {
      const at = this.#offsetOf(path.slice(0, length))
      if (at !== null) return this.#placeAt(at)
    }
    return this.#placeAt(this.#document.contents?.range?.[0] ?? 0)
  }

  /** What the file has there in the place of a value from the environment; null where it has the value itself. */
  rawTextOf(path: Path): string | null {
    return this.#raw.get(pathText(path)) ?? null
  }

  /** Of a field its name, of an entry of a list its beginning. */
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
