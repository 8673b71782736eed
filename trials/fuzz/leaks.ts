import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Which files below the folders hold the text. Read whole: what a database has deleted may still stand in it. */
export function filesHolding(text: string, places: readonly string[]): string[] {
  return places.flatMap((place) => filesBelow(place)).filter((file) => readFileSync(file).includes(text))
}

function filesBelow(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place]
  return readdirSync(place).flatMap((name) => filesBelow(join(place, name)))
}
