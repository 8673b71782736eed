// The theme of VitePress without its fonts: they would be a third of the first load.
import Theme from 'vitepress/theme-without-fonts'
import './style.css'

export default Theme
