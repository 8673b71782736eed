export const loadCanvas = () => import('./ChartCanvas.tsx')

/** For a page that is going to show charts: their code comes while the data come. A failure shows where the first chart would be. */
export function expectCharts(): void {
  loadCanvas().catch(() => undefined)
}
