import type { Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'

import Playground from '../../playground/Playground.vue'
import './style.css'

export default {
  extends: theme,
  enhanceApp: ({ app }) => void app.component('Playground', Playground),
} satisfies Theme
