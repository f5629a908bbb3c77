package samplegen

// word is a name part as people write it and its plain-ASCII spelling, which
// e-mail addresses use.
type word struct{ text, ascii string }

// locale is a country with name parts in its own script. familyFirst puts the
// family name before the given name; glue stands between the two.
type locale struct {
	country     string
	dial        string
	glue        string
	familyFirst bool
	given       []word
	family      []word
}

// locales covers what a character mask must classify: accents (composed and
// combining), letters with and without case, a title-case digraph, scripts of
// two to four bytes a letter, apostrophes and hyphens.
var locales = []locale{
	{country: "Germany", dial: "+49", glue: " ",
		given:  []word{{"Jürgen", "juergen"}, {"Anneliese", "anneliese"}, {"Käthe", "kaethe"}, {"Søren", "soeren"}, {"Lena", "lena"}, {"Jörg", "joerg"}},
		family: []word{{"Müller", "mueller"}, {"Weiß", "weiss"}, {"Groß-Gerau", "gross-gerau"}, {"Schäfer", "schaefer"}, {"von der Öhe", "vonderoehe"}, {"Krüger", "krueger"}}},
	{country: "France", dial: "+33", glue: " ",
		given:  []word{{"Zoë", "zoe"}, {"François", "francois"}, {"Hélène", "helene"}, {"Noël", "noel"}, {"Jean-Paul", "jean-paul"}, {"Maëlys", "maelys"}},
		family: []word{{"L'Hôte", "lhote"}, {"Bœuf", "boeuf"}, {"Lefèvre", "lefevre"}, {"D’Aubigné", "daubigne"}, {"Garçon", "garcon"}, {"Petit", "petit"}}},
	{country: "United States", dial: "+1", glue: " ",
		given:  []word{{"Mary", "mary"}, {"James", "james"}, {"LaToya", "latoya"}, {"Bill", "bill"}, {"Ann-Marie", "ann-marie"}, {"John Q.", "johnq"}},
		family: []word{{"O'Neil", "oneil"}, {"Smith", "smith"}, {"McDonald", "mcdonald"}, {"Johnson III", "johnson3"}, {"Lee", "lee"}, {"Washington", "washington"}}},
	{country: "Spain", dial: "+34", glue: " ",
		given:  []word{{"Iñigo", "inigo"}, {"José", "jose"}, {"Begoña", "begona"}, {"Ramón", "ramon"}, {"Lucía", "lucia"}, {"Andre\u0301s", "andres"}},
		family: []word{{"Núñez", "nunez"}, {"García Márquez", "garciamarquez"}, {"Peña", "pena"}, {"Muñoz", "munoz"}, {"Ibáñez", "ibanez"}, {"López", "lopez"}}},
	{country: "Croatia", dial: "+385", glue: " ",
		given:  []word{{"Željka", "zeljka"}, {"ǅuro", "dzuro"}, {"Šime", "sime"}, {"Ivana", "ivana"}, {"Đurđa", "djurdja"}, {"Ante", "ante"}},
		family: []word{{"Čačić", "cacic"}, {"Jurić", "juric"}, {"Žganec", "zganec"}, {"Kovačević", "kovacevic"}, {"Šarić", "saric"}, {"Babić", "babic"}}},
	{country: "Vietnam", dial: "+84", glue: " ", familyFirst: true,
		given:  []word{{"Thị Hồng", "thihong"}, {"Văn Dũng", "vandung"}, {"Minh Đức", "minhduc"}, {"Thu Thủy", "thuthuy"}, {"Quốc Bảo", "quocbao"}, {"Lan", "lan"}},
		family: []word{{"Nguyễn", "nguyen"}, {"Trần", "tran"}, {"Phạm", "pham"}, {"Đặng", "dang"}, {"Võ", "vo"}, {"Bùi", "bui"}}},
	{country: "Türkiye", dial: "+90", glue: " ",
		given:  []word{{"İpek", "ipek"}, {"Işıl", "isil"}, {"Çağrı", "cagri"}, {"Oğuz", "oguz"}, {"Şebnem", "sebnem"}, {"Gül", "gul"}},
		family: []word{{"Yılmaz", "yilmaz"}, {"Öztürk", "ozturk"}, {"Şahin", "sahin"}, {"Çelik", "celik"}, {"Aydın", "aydin"}, {"Güneş", "gunes"}}},
	{country: "Ukraine", dial: "+380", glue: " ",
		given:  []word{{"Ірина", "iryna"}, {"Тарас", "taras"}, {"Євген", "yevhen"}, {"Ганна", "hanna"}, {"Олексій", "oleksii"}, {"Софія", "sofiia"}},
		family: []word{{"Шевченко", "shevchenko"}, {"Ткачук", "tkachuk"}, {"Бойко", "boiko"}, {"Щербак", "shcherbak"}, {"Лук’яненко", "lukianenko"}, {"Їжак", "yizhak"}}},
	{country: "Greece", dial: "+30", glue: " ",
		given:  []word{{"Γιώργος", "giorgos"}, {"Ελένη", "eleni"}, {"Αναΐς", "anais"}, {"Ζωή", "zoi"}, {"Δημήτρης", "dimitris"}, {"Φωτεινή", "foteini"}},
		family: []word{{"Παπαδόπουλος", "papadopoulos"}, {"Ωνάσης", "onasis"}, {"Μαΐου", "maiou"}, {"Θεοδωράκης", "theodorakis"}, {"Ξένος", "xenos"}, {"Ψαρός", "psaros"}}},
	{country: "Egypt", dial: "+20", glue: " ",
		given:  []word{{"أحمد", "ahmed"}, {"فاطمة", "fatima"}, {"يوسف", "youssef"}, {"مُحَمَّد", "mohamed"}, {"ليلى", "layla"}, {"عمر", "omar"}},
		family: []word{{"السيد", "elsayed"}, {"عبد الله", "abdallah"}, {"حسن", "hassan"}, {"المصري", "elmasry"}, {"منصور", "mansour"}, {"خليل", "khalil"}}},
	{country: "Israel", dial: "+972", glue: " ",
		given:  []word{{"נועה", "noa"}, {"יעקב", "yaakov"}, {"שרה", "sara"}, {"איתן", "eitan"}, {"מיכל", "michal"}, {"דוד", "david"}},
		family: []word{{"כהן", "cohen"}, {"לוי", "levi"}, {"בן־דוד", "bendavid"}, {"פרץ", "peretz"}, {"מזרחי", "mizrahi"}, {"אברהם", "avraham"}}},
	{country: "India", dial: "+91", glue: " ",
		given:  []word{{"प्रिया", "priya"}, {"अर्जुन", "arjun"}, {"श्रीनिवास", "shrinivas"}, {"लक्ष्मी", "lakshmi"}, {"राहुल", "rahul"}, {"மீனா", "meena"}},
		family: []word{{"शर्मा", "sharma"}, {"सिंह", "singh"}, {"पटेल", "patel"}, {"गुप्ता", "gupta"}, {"कृष्णन", "krishnan"}, {"ஐயர்", "iyer"}}},
	{country: "Japan", dial: "+81", glue: "　", familyFirst: true,
		given:  []word{{"太郎", "taro"}, {"さくら", "sakura"}, {"ケン", "ken"}, {"美咲", "misaki"}, {"健一", "kenichi"}, {"ひろし", "hiroshi"}},
		family: []word{{"佐藤", "sato"}, {"鈴木", "suzuki"}, {"髙橋", "takahashi"}, {"渡邉", "watanabe"}, {"𠮷田", "yoshida"}, {"小林", "kobayashi"}}},
	{country: "China", dial: "+86", glue: "", familyFirst: true,
		given:  []word{{"伟", "wei"}, {"秀英", "xiuying"}, {"娜", "na"}, {"建国", "jianguo"}, {"思远", "siyuan"}, {"㛃", "jie"}},
		family: []word{{"王", "wang"}, {"李", "li"}, {"欧阳", "ouyang"}, {"张", "zhang"}, {"刘", "liu"}, {"陈", "chen"}}},
	{country: "South Korea", dial: "+82", glue: " ", familyFirst: true,
		given:  []word{{"민준", "minjun"}, {"서연", "seoyeon"}, {"지후", "jihu"}, {"하은", "haeun"}, {"도윤", "doyun"}, {"수빈", "subin"}},
		family: []word{{"김", "kim"}, {"이", "lee"}, {"박", "park"}, {"최", "choi"}, {"남궁", "namgung"}, {"정", "jung"}}},
}

// notes are templates of free text; {name}, {phone} and {ref} are filled in.
var notes = []string{
	"Called on {phone}, no answer.",
	"{name} prefers e-mail over phone.",
	"Refund {ref} approved; customer was polite 🙂",
	"Address changed twice this year, see ticket {ref}.",
	"Asked to be called “{name}” in letters.",
	"Card expires soon.\nReminder sent, reference {ref}.",
	"Requested deletion of all data (ticket {ref}).",
	"VIP, handle with care; manager knows {name}.",
	"Complaint about invoice {ref}: \"charged twice\"",
	"New number is {phone}, old one is out of service",
	"n/a",
	"",
}
