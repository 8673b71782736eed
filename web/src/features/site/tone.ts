/** The bands of the score that ask for a look; the others need no colour. */
export function toneOf(points: number | null): 'warning' | 'critical' | undefined {
  if (points === null || points >= 70) return undefined
  return points >= 50 ? 'warning' : 'critical'
}
