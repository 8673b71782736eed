const SIZE = 6

/** A repeated pattern of slanted lines, as ECharts takes it for a colour: for what is not over, or did not happen. */
export function hatchOf(ground: string, line: string): object | string {
  const image = document.createElement('canvas')
  image.width = SIZE
  image.height = SIZE
  const pen = image.getContext('2d')
  if (pen === null) return ground
  pen.fillStyle = ground
  pen.fillRect(0, 0, SIZE, SIZE)
  pen.strokeStyle = line
  pen.beginPath()
  for (const shift of [-SIZE, 0, SIZE]) {
    pen.moveTo(shift, SIZE)
    pen.lineTo(shift + SIZE, 0)
  }
  pen.stroke()
  return { type: 'pattern', image, repeat: 'repeat' }
}
