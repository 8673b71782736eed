export const loadCanvas = () => import('./ChartCanvas.tsx')

/** Loads the code of charts while their data loads. A failure shows where the first chart would be. */
export function expectCharts(): void {
  loadCanvas().catch(() => undefined)
}
